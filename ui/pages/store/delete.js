// @ts-check
// Deletes a store that was added by mistake, after a question that names what goes with it.

import { pathOf, send } from "../../core/api.js";
import { link } from "../../core/base.js";
import { plural } from "../../core/format.js";
import { html } from "../../core/html.js";
import { currentPath, navigate } from "../../core/router.js";
import { confirm } from "../../parts/dialog.js";
import { refusalText, toast } from "../../parts/toast.js";

/** @import { StoreView } from "../../types/api" */

/** Asks first. @param {StoreView} store */
export async function deleteStore({ id, name, products }) {
  const isSure = await confirm({
    title: "Delete 1 store?",
    body: html`<p><bdi>${name}</bdi></p>
      <p>${products > 0 ? `Its ${plural(products, "product")} and its payloads` : "Its payloads"} are deleted, too, and cannot be restored.
        Disable the store to keep them.</p>`,
    action: "Delete 1 store",
    danger: true,
  });
  if (!isSure) return;
  try {
    const { is_discovered: isDiscovered } = await send("DELETE", pathOf("/api/stores/{id}", { id, with_products: true }));
    // this page reads the store again with every change
    if (currentPath() === `/admin/stores/${id}`) navigate(link("/admin/stores"));
    if (isDiscovered) toast("warn", `${name} is deleted. A store discovery that finds it adds it again.`);
    else toast("good", `${name} is deleted.`);
  } catch (error) {
    toast("bad", refusalText(error));
  }
}
