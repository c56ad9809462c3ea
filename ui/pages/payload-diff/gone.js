// @ts-check
// Why the document of a payload cannot be read, by the status of the answer.

/** @type {Record<number, string>} */
export const GONE = {
  410: "The file of this payload is gone",
  422: "The file of this payload is damaged",
};
