// Cards of citations open and lead back by links alone. This also shows them while their citation
// is pointed at or has the focus, puts them beside it, and closes them with Escape or a click
// outside, without scrolling the text. Tables can be saved by links; this adds buttons to copy them.
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
    const words = card?.querySelector("mark");
    if (words) card.scrollTop = words.offsetTop - card.clientHeight / 3;
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
(() => {
  const SAY_FOR_MS = 4000;

  const read = (link) => {
    const bytes = atob(link.href.slice(link.href.indexOf(",") + 1));
    return new TextDecoder().decode(Uint8Array.from(bytes, (byte) => byte.charCodeAt(0)));
  };

  // Where a page may not use the clipboard by itself, a selection is copied.
  const copySelected = (text) => {
    const area = Object.assign(document.createElement("textarea"), { value: text });
    document.body.append(area);
    area.select();
    const copied = document.execCommand("copy");
    area.remove();
    return copied;
  };

  const copy = async (text) => {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      return copySelected(text);
    }
  };

  for (const place of document.querySelectorAll(".csv")) {
    const { copy: label, copied, failed } = place.dataset;
    const button = Object.assign(document.createElement("button"), { type: "button" });
    button.textContent = label;
    const told = document.createElement("span");
    told.setAttribute("role", "status");
    let timer = 0;
    button.addEventListener("click", async () => {
      told.textContent = (await copy(read(place.querySelector("a")))) ? copied : failed;
      button.focus({ preventScroll: true });
      clearTimeout(timer);
      timer = setTimeout(() => told.replaceChildren(), SAY_FOR_MS);
    });
    place.append(button, told);
  }
})();
