// Makes pages live. Everything but that works without: buttons are forms, popovers are the browser's own.
// Nothing here makes markup of text: pieces of pages come from the server, which escapes what is in them.

// A run under way: pieces of the page as they are made.
const run = document.querySelector("[data-live]");
if (run) follow(run.dataset.live, run.dataset.last);

function follow(address, last) {
  let seen = last;
  let over = false;
  const source = new EventSource(`${address}?last=${encodeURIComponent(last)}`);
  // A browser has six connections to a server for all its tabs: one that nobody looks at gives its own back.
  const look = () => {
    if (document.hidden) source.close();
    else if (!over && source.readyState === EventSource.CLOSED) {
      over = true;
      document.removeEventListener("visibilitychange", look);
      follow(address, seen);
    }
  };
  document.addEventListener("visibilitychange", look);
  source.addEventListener("pieces", (message) => {
    if (message.lastEventId) seen = message.lastEventId;
    online(true);
    for (const piece of JSON.parse(message.data)) {
      const place = document.getElementById(piece.at);
      if (!place) continue;
      if (piece.do === "put") place.innerHTML = piece.html;
      else place.insertAdjacentHTML("beforeend", piece.html);
    }
  });
  source.addEventListener("end", (message) => {
    // Without a state the server is ending: the browser comes back by itself, and goes on where it was.
    if (JSON.parse(message.data).state) {
      over = true;
      source.close();
      location.reload();
    }
  });
  source.addEventListener("open", () => online(true));
  source.addEventListener("error", () => {
    online(false);
    if (source.readyState === EventSource.CLOSED) setTimeout(look, 3000);
  });
}

// Says that the server is not there, and that nothing is lost.
function online(is) {
  let words = document.getElementById("offline");
  if (is) {
    words?.remove();
  } else if (!words) {
    words = document.createElement("p");
    words.id = "offline";
    words.className = "notice warn";
    words.setAttribute("role", "status");
    words.textContent = "The server cannot be reached. This page goes on by itself as soon as it is back; nothing is lost.";
    document.getElementById("main").prepend(words);
  }
}

document.addEventListener("click", async (event) => {
  const copy = event.target.closest("a[data-copy]");
  if (copy && navigator.clipboard) {
    event.preventDefault();
    const reply = await fetch(copy.href);
    if (!reply.ok) return location.assign(copy.href);
    await navigator.clipboard.writeText(await reply.text());
    said(copy, "Copied");
  }
  if (event.target.closest("[data-print]")) print();
});

// Feedback is sent without leaving the page.
document.addEventListener("submit", async (event) => {
  const form = event.target.closest("form[data-feedback]");
  if (!form) return;
  event.preventDefault();
  const fields = new URLSearchParams(new FormData(form, event.submitter));
  const reply = await fetch(form.action, { method: "POST", body: fields });
  const thumb = fields.get("thumb");
  if (reply.ok && thumb) {
    for (const button of form.querySelectorAll("button[value=up], button[value=down]"))
      button.setAttribute("aria-pressed", String(button.value === thumb));
  }
  form.querySelector(".said").textContent = reply.ok ? "Thank you." : "Not saved. Please try again.";
});

// Ctrl+Enter sends a question.
for (const box of document.querySelectorAll("form.ask textarea"))
  box.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) box.form.requestSubmit();
  });

for (const button of document.querySelectorAll("[data-print]")) button.hidden = false;

// A chip's popover stands beside it where there is room; without this it stands in the middle of the window.
document.addEventListener("toggle", (event) => {
  const popover = event.target;
  if (event.newState !== "open" || !popover.matches?.(".popover")) return;
  // The quotation is what it was opened for.
  const quoted = popover.querySelector("mark");
  if (quoted) popover.scrollTop = Math.max(0, quoted.offsetTop - popover.clientHeight / 3);
  if (innerWidth < 700) return;
  const chip = document.querySelector(`[popovertarget="${popover.id}"]`).getBoundingClientRect();
  const box = popover.getBoundingClientRect();
  const left = Math.max(8, Math.min(chip.left, innerWidth - box.width - 8));
  const below = chip.bottom + 6;
  const top = below + box.height < innerHeight ? below : Math.max(8, chip.top - box.height - 6);
  popover.style.inset = "auto";
  popover.style.left = `${left}px`;
  popover.style.top = `${top}px`;
  popover.style.margin = "0";
}, true);

// The page of a PDF is shown at the quotation that is marked on it.
const drawn = document.querySelector("figure[data-mark]");
if (drawn) {
  const box = drawn.querySelector("img").getBoundingClientRect();
  scrollTo(0, scrollY + box.top + box.height * Number(drawn.dataset.mark) - innerHeight / 3);
}

function said(beside, words) {
  let place = beside.parentElement.querySelector(".copied");
  if (!place) {
    place = document.createElement("span");
    place.className = "copied soft";
    place.setAttribute("role", "status");
    beside.parentElement.append(place);
  }
  place.textContent = words;
}

// Files can be dropped on the form that sends them, which then shows how far it is.
for (const form of document.querySelectorAll("form[data-drop]")) {
  const files = form.querySelector("input[type=file]");
  const over = (is) => (event) => {
    event.preventDefault();
    form.classList.toggle("over", is);
  };
  form.addEventListener("dragover", over(true));
  form.addEventListener("dragleave", over(false));
  form.addEventListener("drop", (event) => {
    over(false)(event);
    if (!event.dataTransfer.files.length) return;
    files.files = event.dataTransfer.files;
    form.requestSubmit();
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const bar = document.createElement("progress");
    bar.setAttribute("aria-label", "Sent");
    form.append(bar);
    const request = new XMLHttpRequest();
    request.open("POST", form.action);
    request.upload.addEventListener("progress", (sent) => {
      if (sent.lengthComputable) [bar.max, bar.value] = [sent.total, sent.loaded];
    });
    // What the server says is a page of its own: where the files went, or why they did not.
    request.addEventListener("load", () => {
      if (request.responseURL !== form.action) return location.assign(request.responseURL);
      bar.remove();
      const page = new DOMParser().parseFromString(request.responseText, "text/html");
      document.getElementById("main").replaceWith(page.getElementById("main"));
      document.querySelector("[role=alert]")?.scrollIntoView();
    });
    request.addEventListener("error", () => {
      bar.remove();
      said(form.querySelector("button"), "The files could not be sent: they may be too large, or the server is not there.");
    });
    request.send(new FormData(form));
  });
}

// One file can be dropped on a form that has other fields, too: it is chosen, and sent with them.
for (const form of document.querySelectorAll("form[data-drop-one]")) {
  // Text that is dropped goes where it is dropped, as ever.
  const over = (is) => (event) => {
    if (!event.dataTransfer.types.includes("Files")) return;
    event.preventDefault();
    form.classList.toggle("over", is);
  };
  form.addEventListener("dragover", over(true));
  form.addEventListener("dragleave", over(false));
  form.addEventListener("drop", (event) => {
    over(false)(event);
    if (!event.dataTransfer.files.length) return;
    const one = new DataTransfer();
    one.items.add(event.dataTransfer.files[0]);
    form.querySelector("input[type=file]").files = one.files;
  });
}

// A page of work that is under way is looked at again until it is done.
if (document.querySelector("[data-refresh]")) again();

function again() {
  setTimeout(async () => {
    try {
      const reply = await fetch(location.href);
      const page = new DOMParser().parseFromString(await reply.text(), "text/html");
      document.getElementById("main").replaceChildren(...page.getElementById("main").childNodes);
      online(true);
    } catch {
      online(false);
    }
    if (document.querySelector("[data-refresh]")) again();
  }, 1000);
}
