// Cards of citations open and lead back by links alone. This also shows them while their citation
// is pointed at or has the focus, puts them beside it, and closes them with Escape or a click
// outside, without scrolling the text.
"use strict";
(() => {
  const SHOW_AFTER_MS = 150;
  const HIDE_AFTER_MS = 300; // long enough to move the pointer from a citation to its card
  const find = (place) => document.querySelector(place);
  let shown = null;
  let timer = 0;

  const later = (act, after) => {
    clearTimeout(timer);
    timer = setTimeout(act, after);
  };

  const hide = () => {
    clearTimeout(timer);
    shown?.classList.remove("shown");
    shown = null;
  };

  const place = (link) => {
    const card = find(`${link.hash}.card`);
    card?.style.setProperty("--at", `${link.getBoundingClientRect().top}px`);
    return card;
  };

  const show = (link) => {
    hide();
    shown = place(link);
    shown?.classList.add("shown");
  };

  const close = () => {
    const back = find(".card:target .close");
    if (back) {
      const top = scrollY;
      location.replace(back.hash);
      scrollTo({ top, behavior: "instant" });
      find(back.hash)?.focus({ preventScroll: true });
    }
    hide();
  };

  addEventListener("keydown", (event) => {
    if (event.key === "Escape") close();
  });
  addEventListener("click", (event) => {
    const open = find(".card:target");
    const link = event.target.closest("a");
    if (link?.matches(".ref")) {
      hide();
      place(link);
    }
    const again = open && link?.matches(".ref") && link.hash === `#${open.id}`;
    if (again || (open && link?.matches(".close"))) event.preventDefault();
    else if (!open || link || event.target.closest(".card") || String(getSelection())) return;
    close();
  });
  addEventListener("pointerover", (event) => {
    if (event.pointerType !== "mouse") return;
    const link = event.target.closest(".ref");
    if (link) later(() => show(link), SHOW_AFTER_MS);
    else if (event.target.closest(".shown")) clearTimeout(timer);
    else later(hide, HIDE_AFTER_MS);
  });
  addEventListener("focusin", (event) => {
    if (event.target.matches(".ref:focus-visible")) show(event.target);
    else if (!event.target.closest(".card")) hide();
  });
})();
