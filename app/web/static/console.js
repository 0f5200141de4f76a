"use strict";
// Comforts only: every page works without this script.
(() => {
  const opened = new Set();
  document.addEventListener("htmx:beforeSwap", (event) => {
    opened.clear();
    for (const one of event.target.querySelectorAll("details[open][id]")) opened.add(one.id);
  });
  document.addEventListener("htmx:afterSwap", () => {
    for (const id of opened) document.getElementById(id)?.setAttribute("open", "");
  });

  for (const area of document.querySelectorAll("[data-drop]")) {
    const input = area.querySelector("input[type=file]");
    const told = area.querySelector("[data-chosen]");
    const tell = () => {
      const names = [...input.files].map((one) => one.name);
      told.textContent = names.length ? names.join(", ") : told.dataset.none;
    };
    input.addEventListener("change", tell);
    for (const kind of ["dragenter", "dragover"]) {
      area.addEventListener(kind, (event) => { event.preventDefault(); area.classList.add("over"); });
    }
    for (const kind of ["dragleave", "drop"]) {
      area.addEventListener(kind, () => area.classList.remove("over"));
    }
    area.addEventListener("drop", (event) => {
      event.preventDefault();
      input.files = event.dataTransfer.files;
      tell();
    });
  }

  for (const button of document.querySelectorAll("[data-copy]")) {
    const field = document.getElementById(button.dataset.copy);
    button.hidden = !navigator.clipboard;
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(field.value);
      button.textContent = button.dataset.copied;
    });
  }
  for (const field of document.querySelectorAll("[data-select]")) {
    field.addEventListener("focus", () => field.select());
  }

  const two = (number) => String(number).padStart(2, "0");
  for (const one of document.querySelectorAll("time[datetime*=T]")) {
    const at = new Date(one.dateTime);
    one.title = one.textContent;
    one.textContent = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${two(at.getHours())}:${two(at.getMinutes())}`;
  }
  for (const field of document.querySelectorAll("[data-zone]")) {
    field.value = Intl.DateTimeFormat().resolvedOptions().timeZone || field.value;
  }

  document.addEventListener("submit", (event) => {
    // A second click would ask twice.
    setTimeout(() => {
      for (const one of event.target.querySelectorAll("button")) one.disabled = !event.defaultPrevented;
    });
  });
  addEventListener("pageshow", () => {
    for (const one of document.querySelectorAll("button[disabled]")) one.disabled = false;
  });

  document.addEventListener("keydown", (event) => {
    const open = document.querySelector("details.tool[open], .menu[open]");
    if (event.key === "Escape" && open) {
      open.removeAttribute("open");
      open.querySelector("summary").focus();
    }
  });
  document.addEventListener("click", (event) => {
    for (const one of document.querySelectorAll("details.tool[open], .menu[open]")) {
      if (!one.contains(event.target)) one.removeAttribute("open");
    }
  });
})();
