export function VerifyPage() {
  return <h1>Verify</h1>;
}
