package calendar

// Divide returns the quotient rounded down and the remainder, which is not negative. The divisor b is positive.
func Divide(a, b int64) (quotient, remainder int64) {
	quotient, remainder = a/b, a%b
	if remainder < 0 {
		return quotient - 1, remainder + b
	}
	return quotient, remainder
}

// DivideUp returns the quotient rounded up.
func DivideUp(a, b int64) int64 {
	quotient, remainder := Divide(a, b)
	if remainder > 0 {
		quotient++
	}
	return quotient
}

// GCD returns the greatest common divisor.
func GCD(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// Mod returns the remainder of Divide.
func Mod(a, b int64) int64 {
	_, rest := Divide(a, b)
	return rest
}

// Inverse returns the number whose product with a is 1 modulo m. They have no common divisor.
func Inverse(a, m int64) int64 {
	x, y, r, s := int64(1), int64(0), Mod(a, m), m
	for s != 0 {
		q := r / s
		x, y, r, s = y, x-q*y, s, r-q*s
	}
	return Mod(x, max(m, 1))
}
