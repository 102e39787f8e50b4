package spec

// divide returns the quotient rounded down and the remainder, which is not negative. The divisor b is positive.
func divide(a, b int64) (quotient, remainder int64) {
	quotient, remainder = a/b, a%b
	if remainder < 0 {
		return quotient - 1, remainder + b
	}
	return quotient, remainder
}

// divideUp returns the quotient rounded up.
func divideUp(a, b int64) int64 {
	quotient, remainder := divide(a, b)
	if remainder > 0 {
		quotient++
	}
	return quotient
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

func mod(a, b int64) int64 {
	_, rest := divide(a, b)
	return rest
}

// inverse returns the number whose product with a is 1 modulo m. They have no common divisor.
func inverse(a, m int64) int64 {
	x, y, r, s := int64(1), int64(0), mod(a, m), m
	for s != 0 {
		q := r / s
		x, y, r, s = y, x-q*y, s, r-q*s
	}
	return mod(x, max(m, 1))
}
