/** How the platform shows itself; see `CONSOLE_BRAND`. */
export type Brand = {
  readonly name: string;
  /** A `data:` url. */
  readonly logo?: string;
  readonly accent?: string;
  readonly support?: string;
};

/** What the page brings along of the platform that shows it. Undefined: it is Herald's own. */
function readBrand(): Brand | undefined {
  const content = document.querySelector<HTMLMetaElement>('meta[name=herald-brand]')?.content;
  return content === undefined ? undefined : (JSON.parse(content) as Brand);
}

export const brand = readBrand();

/** The accent of the platform, as dark as it is on white, and lighter on dark ground. */
export function showAccent(): void {
  const { accent } = brand ?? {};
  if (accent === undefined) return;
  const { style } = document.documentElement;
  style.setProperty('--accent', `light-dark(${accent}, color-mix(in oklab, ${accent} 45%, white))`);
  style.setProperty(
    '--accent-ground',
    `light-dark(color-mix(in oklab, ${accent} 8%, white), color-mix(in oklab, ${accent} 20%, #131417))`,
  );
}
