// A component that is drawn again only when one of its properties changed: an answer has thousands of tokens.

import { Component, type ComponentChildren } from 'preact';

export function memo<Props extends object>(draw: (props: Props) => ComponentChildren) {
  return class extends Component<Props> {
    override shouldComponentUpdate(next: Props): boolean {
      const before = this.props as Record<string, unknown>;
      return Object.entries(next).some(([name, value]) => before[name] !== value);
    }
    override render() {
      return draw(this.props);
    }
  };
}
