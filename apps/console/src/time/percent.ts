/** A share as people read it: never 100 % while something failed, and never 0 % while something succeeded. */
export function percentText(share: number): string {
  if (share === 1) return '100 %';
  if (share === 0) return '0 %';
  return `${Math.min(99.9, Math.max(0.1, share * 100)).toFixed(1)} %`;
}
