import { deliveryTexts } from '../texts/delivery-texts.ts';
import { ForeignText } from '../ui/foreign-text.tsx';

type HeaderListProps = {
  readonly label: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Sent too, and not shown. */
  readonly omitted?: readonly string[];
};

/** Headers of a request or an answer. */
export function HeaderList({ label, headers, omitted = [] }: HeaderListProps) {
  return (
    <dl class="headers" aria-label={label}>
      {Object.entries(headers).map(([name, value = '']) => (
        <div>
          <dt>{name}</dt>
          <dd>
            <ForeignText text={value} />
          </dd>
        </div>
      ))}
      {omitted.map((name) => (
        <div>
          <dt>{name}</dt>
          <dd class="quiet">{deliveryTexts.omitted}</dd>
        </div>
      ))}
    </dl>
  );
}
