// A browser starts no worker from a file. The search of the theme then runs in a hidden frame, if the page has IFrameWorker.
if (location.protocol === "file:") {
  window.IFrameWorker = window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      const inner = (this.inner = frame.contentWindow);
      const load = address => new Promise((done, failed) => {
        const script = inner.document.createElement("script");
        script.src = address;
        script.onload = done;
        script.onerror = failed;
        inner.document.body.append(script);
      });
      // In a worker, this goes to the page.
      inner.postMessage = data => this.dispatchEvent(new MessageEvent("message", { data }));
      inner.importScripts = (...addresses) =>
        addresses.reduce((before, address) => before.then(() => load(address)), Promise.resolve());
      this.loaded = load(url);
    }

    postMessage(data) {
      this.loaded.then(() => this.inner.dispatchEvent(new MessageEvent("message", { data })));
    }
  };
}
