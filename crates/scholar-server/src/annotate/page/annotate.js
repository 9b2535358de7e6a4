// Saves the form while it is filled in, and makes the keyboard quicker. Without it the buttons do everything.

const form = document.getElementById("form");
const status = document.getElementById("status");
const field = (name) => form.elements.namedItem(name);

const PAUSE = 500;
const LONGEST_RETRY = 30_000;

let changed = false;
let timer = 0;
let retry = 1_000;
let sending = Promise.resolve();
let leaving = false;

function say(words, bad = false) {
  status.textContent = words;
  status.classList.toggle("bad", bad);
}

function contents() {
  field("seq").value = String(Number(field("seq").value) + 1);
  return new URLSearchParams(new FormData(form));
}

function later(pause) {
  clearTimeout(timer);
  timer = setTimeout(() => { sending = sending.then(save); }, pause);
}

async function save() {
  if (!changed || leaving) return;
  changed = false;
  say("Saving…");
  try {
    const body = contents();
    // What is sent while the page is being left must outlive it; browsers allow that for 64 KiB.
    const keepalive = document.visibilityState === "hidden" && String(body).length < 60_000;
    const reply = await fetch(form.dataset.draft, { method: "POST", body, keepalive });
    if (reply.ok) {
      retry = 1_000;
      if (!changed) say("Saved.");
      return;
    }
    const { error } = await reply.json().catch(() => ({ error: `Not saved (${reply.status}).` }));
    say(error, true);
    // What the server refuses once it refuses again; what it cannot do now it may do later.
    if (reply.status < 500) return;
  } catch {
    say("Not saved: the server cannot be reached. Trying again…", true);
  }
  changed = true;
  later(retry);
  retry = Math.min(retry * 2, LONGEST_RETRY);
}

form.addEventListener("input", () => {
  changed = true;
  later(PAUSE);
});

document.addEventListener("visibilitychange", () => {
  if (document.visibilityState !== "hidden") return;
  clearTimeout(timer);
  sending = sending.then(save);
});

window.addEventListener("beforeunload", (event) => {
  if (changed && !leaving) event.preventDefault();
});

// A page that comes back from the browser's memory goes on saving.
window.addEventListener("pageshow", () => { leaving = false; });

// A save that is under way must not come after the submission. The form takes no second submission while it is still
// telling of the first, hence the turn of the clock.
form.addEventListener("submit", (event) => {
  if (leaving) return;
  event.preventDefault();
  clearTimeout(timer);
  const button = event.submitter;
  say("Submitting…");
  sending.then(() => setTimeout(() => {
    leaving = true;
    field("seq").value = String(Number(field("seq").value) + 1);
    form.requestSubmit(button);
  }));
});

document.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    form.requestSubmit(form.querySelector("button[value=submit]"));
    return;
  }
  const { target } = event;
  const onScale = target instanceof HTMLInputElement && target.type === "radio" && target.closest(".scale");
  if (!onScale || event.ctrlKey || event.altKey || event.metaKey || !/^[1-5]$/.test(event.key)) return;
  const choice = onScale.querySelector(`input[value="${event.key}"]`);
  event.preventDefault();
  choice.focus();
  choice.checked = true;
  choice.dispatchEvent(new Event("input", { bubbles: true }));
});

// A citation opens the reference it leads to, wherever the browser does not do so itself.
function open() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  target?.closest("details")?.setAttribute("open", "");
}
for (const link of document.querySelectorAll("a.cite")) {
  link.addEventListener("click", () => {
    const target = document.getElementById(link.hash.slice(1));
    target.closest("details").open = true;
    setTimeout(() => target.focus({ preventScroll: true }));
  });
}
window.addEventListener("hashchange", open);
open();
