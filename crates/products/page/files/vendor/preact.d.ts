// What the page uses of Preact.
export function h(type: any, props: any, ...children: any[]): any;
export function render(node: any, into: Element): void;
export const Fragment: any;
export class Component {
  constructor(props?: any);
  props: any;
  state: any;
  setState(next: any): void;
}
