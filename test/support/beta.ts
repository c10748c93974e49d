/**
 * Computes the share of a beta distribution that lies below `x`: the regularised incomplete beta function, by its
 * continued fraction.
 */
export function betaShare(x: number, a: number, b: number): number {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  // the fraction converges quickly only on this side of the mean
  if (x > (a + 1) / (a + b + 2)) return 1 - betaShare(1 - x, b, a);
  const front = Math.exp(lnGamma(a + b) - lnGamma(a) - lnGamma(b) + a * Math.log(x) + b * Math.log1p(-x));
  // evaluated from its far end; 400 terms are enough for parameters up to some ten thousand
  let fraction = 1;
  for (let m = 400; m >= 1; m -= 1) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
    const odd = ((a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    fraction = 1 + even / (1 - odd / fraction);
  }
  const first = ((a + b) * x) / (a + 1);
  return front / a / (1 - first / fraction);
}

/** Uses Stirling's series from ten on, where its first terms are exact to twelve digits. */
function lnGamma(x: number): number {
  if (x < 10) return lnGamma(x + 1) - Math.log(x);
  return (
    (x - 0.5) * Math.log(x) -
    x +
    0.5 * Math.log(2 * Math.PI) +
    1 / (12 * x) -
    1 / (360 * x ** 3) +
    1 / (1260 * x ** 5) -
    1 / (1680 * x ** 7)
  );
}
