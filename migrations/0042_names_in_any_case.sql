-- Stores by the names that people type: platforms take them in capitals too.

-- In the place of dispensaries_menu_entry, which processes of the release before still use.
CREATE INDEX dispensaries_menu_entry_lower ON dispensaries (lower(menu_entry(menu_url)));

CREATE INDEX dispensaries_slug_lower ON dispensaries (lower(slug));
