// A view that fails must not take the page with it.

import { html } from "../html.js";
import { Component } from "../vendor/preact.js";
import { visible } from "../format.js";

/** A view that fails must not take the page with it. */
export class Guard extends Component {
  /** @param {any} props */
  constructor(props) {
    super(props);
    this.state = /** @type {any} */ ({ error: null });
  }

  /** @param {Error} error */
  componentDidCatch(error) {
    this.setState({ error });
  }

  render() {
    const { error } = this.state;
    if (!error) return this.props.children;
    return html`<div class="nothing"><p class="problem" role="alert">This view failed: ${visible(error.message, 300)}</p>
      <button type="button" onClick=${() => this.setState({ error: null })}>Try again</button></div>`;
  }
}
