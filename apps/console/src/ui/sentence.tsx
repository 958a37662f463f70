/** A sentence of Herald itself: what stands in backticks is code. */
export function Sentence({ text }: { readonly text: string }) {
  return <>{text.split('`').map((part, index) => (index % 2 === 1 ? <code>{part}</code> : part))}</>;
}
