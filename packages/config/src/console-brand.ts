import { z } from 'zod';

const EXAMPLE = '{"name":"Acme","accent":"#0b5cad","support":"https://acme.example/help"}';
/** A larger logo would delay every first page. */
const LOGO_LIMIT = 32_768;
const CONTRAST = 4.5;

/** How a platform shows itself in the console of its customers. */
export const Brand = z.strictObject({
  name: z.string().trim().min(1).max(40),
  logo: z
    .string()
    .max(LOGO_LIMIT, `must have at most ${LOGO_LIMIT} characters`)
    .regex(/^data:image\/(svg\+xml|png);base64,[A-Za-z0-9+/]+=*$/, 'must be a data: url of an SVG or a PNG in base64')
    .exactOptional(),
  accent: z
    .string()
    .regex(/^#[0-9a-f]{6}$/i, { error: 'must be a color such as #0b5cad', abort: true })
    .refine((color) => contrastWithWhite(color) >= CONTRAST, 'must be darker: white text on it could not be read')
    .exactOptional(),
  support: z
    .string()
    .regex(/^(https:\/\/|mailto:)[^\s"<>]+$/, 'must begin with https:// or mailto:')
    .exactOptional(),
});
export type Brand = z.infer<typeof Brand>;

/** A brand as JSON text. Default: none. */
export const BrandText = z
  .string()
  .transform((text, context): Brand => {
    const refuse = (message: string) => {
      context.addIssue({ code: 'custom', message });
      return z.NEVER;
    };
    let given: unknown;
    try {
      given = JSON.parse(text);
    } catch {
      return refuse(`must be JSON such as ${EXAMPLE}`);
    }
    const { data, error } = Brand.safeParse(given);
    if (data) return data;
    const problems = error.issues.map(({ path, message }) => `${path.join('.')} ${message}`.trim());
    return refuse(`must be JSON such as ${EXAMPLE}: ${problems.join('; ')}`);
  })
  .optional();

/** As WCAG 2 defines it. */
function contrastWithWhite(color: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const share = Number.parseInt(color.slice(at, at + 2), 16) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 1.05 / (0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05);
}
