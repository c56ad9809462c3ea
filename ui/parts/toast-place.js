// @ts-check
// The place of messages: at the lower left, or above what they would cover there. Loaded with the first message.

/** The parts of a page that messages do not cover. */
const CLEAR = "main .panel-foot, main .bulk";
/** Pixels. */
const GAP = 8;

/** Moves the messages above what they would cover, also when the page is scrolled or grows. @param {HTMLElement} box */
export function place(box) {
  const move = () => {
    box.style.bottom = "";
    const { left, right, height, bottom } = box.getBoundingClientRect();
    let lowest = bottom;
    const parts = [...document.querySelectorAll(CLEAR)].map((part) => part.getBoundingClientRect()).sort((a, b) => b.top - a.top);
    for (const part of parts) {
      const isCovered = part.left < right && part.right > left && part.top < lowest && part.bottom > lowest - height;
      if (isCovered && part.top - GAP - height > 0) lowest = part.top - GAP;
    }
    if (lowest < bottom) box.style.bottom = `${innerHeight - lowest}px`;
  };
  move();
  const main = document.querySelector("main");
  const observer = new ResizeObserver(move);
  if (main) observer.observe(main);
  addEventListener("scroll", move, { passive: true });
  addEventListener("resize", move);
  return () => {
    observer.disconnect();
    removeEventListener("scroll", move);
    removeEventListener("resize", move);
  };
}
