/** How long one address of several may take before the next is tried. Node's 250 ms are too few for far places. */
export const NEXT_ADDRESS_AFTER_MS = 1_000;
