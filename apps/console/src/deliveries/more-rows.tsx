import { useEffect, useRef } from 'preact/hooks';
import { deliveryTexts } from '../texts/delivery-texts.ts';
import { texts } from '../texts/texts.ts';

type MoreRowsProps = { readonly isLoading: boolean; readonly load: () => void };

/** Loads the next page when it comes into sight. It is a button too, for the keyboard. */
export function MoreRows({ isLoading, load }: MoreRowsProps) {
  const ref = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (isLoading || ref.current === null) return;
    const observer = new IntersectionObserver(
      (entries) => {
        if (entries.some(({ isIntersecting }) => isIntersecting)) load();
      },
      { rootMargin: '400px' },
    );
    observer.observe(ref.current);
    return () => {
      observer.disconnect();
    };
  });
  return (
    <button type="button" ref={ref} class="button more" disabled={isLoading} onClick={load}>
      {isLoading ? texts.loading : deliveryTexts.more}
    </button>
  );
}
