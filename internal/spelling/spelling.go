// Package spelling tells how far a misspelt name is from a known one, for all who
// suggest what may be meant. What is near enough each of them decides for itself.
package spelling

// Distance is the number of edits between two names, or limit if that is not
// less: bytes put in, left out, replaced, or swapped with their neighbour. Names
// of more than 200 bytes are not looked at.
func Distance(a, b string, limit int) int {
	if len(a) > 200 || len(b) > 200 || len(a)-len(b) >= limit || len(b)-len(a) >= limit {
		return limit
	}
	rows := [3][]int{make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)}
	for j := range rows[1] {
		rows[1][j] = j
	}
	for i := 1; i <= len(a); i++ {
		before, last, row := rows[0], rows[1], rows[2]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			change := 1
			if a[i-1] == b[j-1] {
				change = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		rows = [3][]int{last, row, before}
	}
	return min(rows[1][len(b)], limit)
}
