import { BrandText } from './console-brand.ts';

test('without it there is none, and one may be only a name', () => {
  expect(BrandText.parse(undefined)).toBeUndefined();
  expect(BrandText.parse('{"name":" Acme "}')).toEqual({ name: 'Acme' });
});

test('a brand has a logo, a color and a link', () => {
  const brand = {
    name: 'Acme',
    logo: 'data:image/svg+xml;base64,PHN2Zy8+',
    accent: '#0b5cad',
    support: 'mailto:help@acme.example',
  };
  expect(BrandText.parse(JSON.stringify(brand))).toEqual(brand);
});

test.each([
  ['Acme', 'must be JSON such as {"name":"Acme"'],
  ['{}', 'name '],
  ['{"name":"Acme","accent":"blue"}', 'accent must be a color such as #0b5cad'],
  ['{"name":"Acme","accent":"#ffcc00"}', 'accent must be darker: white text on it could not be read'],
  ['{"name":"Acme","logo":"https://acme.example/logo.png"}', 'logo must be a data: url of an SVG or a PNG in base64'],
  ['{"name":"Acme","support":"javascript:alert(1)"}', 'support must begin with https:// or mailto:'],
  ['{"name":"Acme","colour":"#000000"}', 'colour'],
])('%s is refused: %s', (text, sentence) => {
  expect(BrandText.safeParse(text).error?.issues[0]?.message).toContain(sentence);
});
