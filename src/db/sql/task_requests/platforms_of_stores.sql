-- Those of the stores $1 that exist, with their platforms.
SELECT id, platform FROM dispensaries WHERE id = ANY ($1)
