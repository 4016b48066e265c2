/* The kernel: where rows fall, what they add there, and steps looked up, one pass each.
 *
 * Buffers only: nothing is allocated, nothing is kept, no Python. Callers check sizes and kinds
 * before they pass a pointer. Each function has a twin in numpy, which says what is right.
 *
 * The cell of a score f at level J is floor(f 2^J), exact in doubles. Inside a cell a row adds its
 * place as a whole number of 2^-62, which holds all digits of most scores: whole numbers add up to
 * the same bits in any order, on any number of threads. Sums have 96 bits, and counts 32: callers
 * pass fewer than 2^32 rows to one table.
 */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(_WIN32)
#define EXPORT __declspec(dllexport)
#else
#define EXPORT __attribute__((visibility("default")))
#endif

#ifndef CALIBRANT_SOURCE
#define CALIBRANT_SOURCE "unknown"
#endif

EXPORT const char *calibrant_source(void);
/* The hash of the source that this was compiled from. */
const char *calibrant_source(void) { return CALIBRANT_SOURCE; }

static const double PARTS = 4611686018427387904.0; /* 2^62 */

/* Sums of a cell for 0/1 labels: by label, and its score while there is only one (else NaN). */
typedef struct {
    uint64_t inside[2];
    uint32_t carried[2];
    uint32_t rows[2];
    double one;
} Counts;

/* Sums of a cell for weights and fractions, each as a double and what rounding took from it. */
typedef struct {
    double sum[4]; /* w, w y, w max(y - f, 0), w max(f - y, 0) */
    double rest[4];
    double one;
    int64_t rows;
} Weighted;

/* Two levels of cells: finer ones for scores under 2^-crowd, which have numbers under `cells`. */
typedef struct {
    double fine, coarse;
    int64_t cells, offset;
} Grid;

static Grid grid_of(int64_t level, int64_t crowd) {
    Grid grid;
    grid.cells = (int64_t)1 << level;
    grid.coarse = (double)grid.cells;
    grid.fine = (double)((int64_t)1 << (level + crowd));
    grid.offset = crowd ? grid.cells : 0;
    return grid;
}

static inline int64_t place(double score, const Grid *grid, double *inside) {
    double scaled = score * grid->fine;
    int64_t cell = (int64_t)scaled, skipped = 0;
    if (cell >= grid->cells) { /* above the finer ones, or a score of 1 */
        scaled = score * grid->coarse;
        cell = (int64_t)scaled;
        cell -= cell == grid->cells;
        skipped = grid->offset;
    }
    *inside = scaled - (double)cell;
    return cell + skipped;
}

static inline void count(Counts *cell, double score, double inside, unsigned label) {
    const uint64_t parts = (uint64_t)(int64_t)(inside * PARTS);
    const int empty = (cell->rows[0] | cell->rows[1]) == 0;
    cell->one = empty || cell->one == score ? score + 0.0 : (double)NAN;
    cell->rows[label] += 1;
    cell->inside[label] += parts;
    cell->carried[label] += cell->inside[label] < parts;
}

/* Add rows to their cells, and f^2 block by block; returns the first row that breaks a rule: a
 * score in [0, 1], a label of 0 or 1. Without one it returns n. */
#define COUNT_ROWS(NAME, SCORE, LABEL)                                                             \
    static int64_t NAME(const SCORE *score, const LABEL *label, int64_t n, const Grid *grid,       \
                        int64_t block, const int32_t *group, int64_t groups, Counts *cells,        \
                        double *squares) {                                                         \
        const int64_t width = grid->cells + grid->offset;                                          \
        for (int64_t start = 0; start < n; start += block) {                                       \
            const int64_t stop = n - start < block ? n : start + block;                            \
            double even = 0.0, odd = 0.0;                                                          \
            for (int64_t i = start; i < stop; i++) {                                               \
                const double f = (double)score[i];                                                 \
                const LABEL y = label[i];                                                          \
                double inside;                                                                     \
                int64_t slot;                                                                      \
                if (!(f >= 0.0 && f <= 1.0) || !(y == 0 || y == 1)) return i;                      \
                slot = place(f, grid, &inside);                                                    \
                if (group) {                                                                       \
                    if (group[i] < 0 || group[i] >= groups) return i;                              \
                    slot += (int64_t)group[i] * width;                                             \
                }                                                                                  \
                count(&cells[slot], f, inside, y == 1);                                            \
                if (i & 1)                                                                         \
                    odd += f * f;                                                                  \
                else                                                                               \
                    even += f * f;                                                                 \
            }                                                                                      \
            squares[start / block] = even + odd;                                                   \
        }                                                                                          \
        return n;                                                                                  \
    }

#define FOR_SCORES(FUNCTION, NAME, LABEL)                                                          \
    FUNCTION(NAME##_of_doubles, double, LABEL)                                                     \
    FUNCTION(NAME##_of_floats, float, LABEL)

FOR_SCORES(COUNT_ROWS, bytes, uint8_t)
FOR_SCORES(COUNT_ROWS, shorts, uint16_t)
FOR_SCORES(COUNT_ROWS, words, uint32_t)
FOR_SCORES(COUNT_ROWS, longs, uint64_t)
FOR_SCORES(COUNT_ROWS, floats, float)
FOR_SCORES(COUNT_ROWS, doubles, double)

/* Kinds of columns, as the callers number them; a negative whole number is a huge one here. */
enum { BYTES, SHORTS, WORDS, LONGS, FLOATS, DOUBLES };

EXPORT int64_t calibrant_count_rows(const void *score, int64_t score_kind, const void *label,
                                    int64_t label_kind, int64_t n, int64_t level, int64_t crowd,
                                    int64_t block, const int32_t *group, int64_t groups,
                                    void *cells, double *squares);
int64_t calibrant_count_rows(const void *score, int64_t score_kind, const void *label,
                             int64_t label_kind, int64_t n, int64_t level, int64_t crowd,
                             int64_t block, const int32_t *group, int64_t groups, void *cells,
                             double *squares) {
    const Grid grid = grid_of(level, crowd);
#define WITH(NAME)                                                                                 \
    return score_kind == FLOATS                                                                    \
               ? NAME##_of_floats(score, label, n, &grid, block, group, groups, cells, squares)    \
               : NAME##_of_doubles(score, label, n, &grid, block, group, groups, cells, squares)
    switch (label_kind) {
    case BYTES: WITH(bytes);
    case SHORTS: WITH(shorts);
    case WORDS: WITH(words);
    case LONGS: WITH(longs);
    case FLOATS: WITH(floats);
    default: WITH(doubles);
    }
#undef WITH
}

/* The slot of each score, and how far inside its cell it lies. Returns the first row whose score is
 * not in [0, 1], or n. */
EXPORT int64_t calibrant_place(const double *score, int64_t n, int64_t level, int64_t crowd,
                               int64_t *slot, double *inside);
int64_t calibrant_place(const double *score, int64_t n, int64_t level, int64_t crowd, int64_t *slot,
                        double *inside) {
    const Grid grid = grid_of(level, crowd);
    for (int64_t i = 0; i < n; i++) {
        if (!(score[i] >= 0.0 && score[i] <= 1.0)) return i;
        slot[i] = place(score[i], &grid, &inside[i]);
    }
    return n;
}

/* f 2^power, exact; 2^1024 is no double. */
static inline double times_power(double score, int64_t power) {
    const uint64_t bits = (uint64_t)(power + 1023) << 52;
    double scale;
    if (power > 1000) return ldexp(score, (int)power);
    memcpy(&scale, &bits, sizeof scale);
    return score * scale;
}

/* Closed cells that split into 2^bits cells each, of a level and from a number on. The cell at zero,
 * number `zero` among them (-1 if there is none), splits into octaves instead, which come after all
 * others: the first begins at half of its width, the last holds 0. */
typedef struct {
    const int64_t *first, *level;
    int64_t closed, bits, zero, octaves;
} Finer;

/* The slot of a score in the closed cell `of`, and how far inside its cell it lies; -1 if none. */
static inline int64_t place_in(double score, int64_t of, const Finer *finer, double *inside) {
    const int64_t level = finer->level[of], first = finer->first[of];
    double scaled;
    int64_t cell;
    if (of == finer->zero) {
        int exponent = 0;
        const double mantissa = frexp(score, &exponent); /* f = m 2^e with m from 1/2 on */
        const int64_t octave = score > 0 ? finer->bits - level - exponent : finer->octaves;
        *inside = score > 0 ? 2 * mantissa - 1 : 0.0;
        return octave < 0 || octave > finer->octaves ? -1 : (finer->closed << finer->bits) + octave;
    }
    scaled = times_power(score, level);
    if (!(scaled < 9.0e18)) return -1;
    cell = (int64_t)scaled - first;
    if (cell == (int64_t)1 << finer->bits) cell -= 1; /* a score of 1 */
    *inside = scaled - (double)(cell + first);
    return cell < 0 || cell >> finer->bits ? -1 : cell + (of << finer->bits);
}

/* The slots of rows whose closed cell is known. Returns the first row in none, or n. */
EXPORT int64_t calibrant_place_finer(const double *score, const int64_t *which, int64_t n,
                                     const int64_t *first, const int64_t *level, int64_t closed,
                                     int64_t bits, int64_t zero, int64_t octaves, int64_t *slot,
                                     double *inside);
int64_t calibrant_place_finer(const double *score, const int64_t *which, int64_t n,
                              const int64_t *first, const int64_t *level, int64_t closed,
                              int64_t bits, int64_t zero, int64_t octaves, int64_t *slot,
                              double *inside) {
    const Finer finer = {first, level, closed, bits, zero, octaves};
    for (int64_t i = 0; i < n; i++) {
        if (!(score[i] >= 0.0 && score[i] <= 1.0) || which[i] < 0 || which[i] >= closed) return i;
        slot[i] = place_in(score[i], which[i], &finer, &inside[i]);
        if (slot[i] < 0) return i;
    }
    return n;
}

/* Add rows with labels 0 and 1 to their slots. Returns the first row without one, or n. */
EXPORT int64_t calibrant_add_counts(const int64_t *slot, const double *inside, const double *score,
                                    const uint8_t *label, int64_t n, int64_t slots, void *cells);
int64_t calibrant_add_counts(const int64_t *slot, const double *inside, const double *score,
                             const uint8_t *label, int64_t n, int64_t slots, void *cells) {
    Counts *into = cells;
    for (int64_t i = 0; i < n; i++) {
        if (slot[i] < 0 || slot[i] >= slots) return i;
        count(&into[slot[i]], score[i], inside[i], label[i] != 0);
    }
    return n;
}

/* Add to a sum, and keep what the rounding of this addition took (Knuth; no compiler may fuse). */
static inline void add_to(double *sum, double *rest, double value) {
    const double total = *sum + value, of_value = total - *sum;
    *rest += (*sum - (total - of_value)) + (value - of_value);
    *sum = total;
}

/* Add rows with weights (all 1 without them) and labels in [0, 1] to their slots. Returns the first
 * row without one, or n. */
EXPORT int64_t calibrant_add_weighted(const int64_t *slot, const double *score, const double *label,
                                      const double *weight, int64_t n, int64_t slots, void *cells);
int64_t calibrant_add_weighted(const int64_t *slot, const double *score, const double *label,
                               const double *weight, int64_t n, int64_t slots, void *cells) {
    for (int64_t i = 0; i < n; i++) {
        const double f = score[i], y = label[i], w = weight ? weight[i] : 1.0;
        const double up = y > f ? y - f : 0.0, down = f > y ? f - y : 0.0;
        Weighted *cell;
        if (slot[i] < 0 || slot[i] >= slots) return i;
        cell = (Weighted *)cells + slot[i];
        cell->one = cell->rows == 0 || cell->one == f ? f + 0.0 : (double)NAN;
        cell->rows += 1;
        add_to(&cell->sum[0], &cell->rest[0], w);
        add_to(&cell->sum[1], &cell->rest[1], w * y);
        add_to(&cell->sum[2], &cell->rest[2], w * up);
        add_to(&cell->sum[3], &cell->rest[3], w * down);
    }
    return n;
}

/* Sorted numbers in [0, 1], and where among them to look for a score: all scores of an entry lie
 * between the number `start[entry]` (-1 is before the first) and `start[entry + 1]`. Entries are
 * ranges of one width, 2^-level, or, if the level is negative, 32 to an octave. */
typedef struct {
    const double *numbers;
    const int32_t *start;
    double scale;
} Index;

static Index index_of(const double *numbers, const int32_t *start, int64_t level) {
    Index index;
    index.numbers = numbers;
    index.start = start;
    index.scale = level < 0 ? 0.0 : (double)((int64_t)1 << level);
    return index;
}

static inline int64_t entry_of(double score, const Index *index) {
    uint64_t bits;
    if (index->scale > 0) return (int64_t)(score * index->scale);
    score += 0.0; /* no sign on a zero */
    memcpy(&bits, &score, sizeof bits);
    return (int64_t)(bits >> 47);
}

/* The last number that is not above the score; `low` is not, and none after `high` is. */
static inline int64_t last_up_to(double score, const double *numbers, int64_t low, int64_t high) {
    while (high - low > 4) {
        const int64_t middle = low + (high - low + 1) / 2;
        const int below = numbers[middle] <= score; /* no branch: nobody could guess it */
        low = below ? middle : low;
        high = below ? high : middle - 1;
    }
    while (low < high && numbers[low + 1] <= score) low++;
    return low;
}

/* The wanted cell that a score lies in, or -1. */
static inline int64_t wanted(double score, const Index *lows, const double *high) {
    const int32_t *start = lows->start + entry_of(score, lows);
    int64_t cell = start[1];
    if (cell < 0 || (start[0] == cell && score > high[cell])) return -1;
    cell = last_up_to(score, lows->numbers, start[0] < 0 ? 0 : start[0], cell);
    return score >= lows->numbers[cell] && score <= high[cell] ? cell : -1;
}

/* The rows whose scores lie in wanted cells, and in which one. Returns how many, or -1 where a
 * score is not in [0, 1]. */
EXPORT int64_t calibrant_select(const double *score, int64_t n, int64_t level, const int32_t *start,
                                const double *low, const double *high, int64_t *row,
                                int64_t *which);
int64_t calibrant_select(const double *score, int64_t n, int64_t level, const int32_t *start,
                         const double *low, const double *high, int64_t *row, int64_t *which) {
    const Index lows = index_of(low, start, level);
    int64_t found = 0;
    for (int64_t i = 0; i < n; i++) {
        if (!(score[i] >= 0.0 && score[i] <= 1.0)) return -1;
        row[found] = i;
        which[found] = wanted(score[i], &lows, high);
        found += which[found] >= 0;
    }
    return found;
}

/* Keys: a score and a label of 0 or 1 as one number, which sorts by score and then by label. The
 * bits of doubles that are not negative are in their order, and those up to 1 leave one free. */
static inline int64_t key_of(double score, int event) {
    int64_t bits;
    score += 0.0; /* no sign on a zero */
    memcpy(&bits, &score, sizeof bits);
    return bits << 1 | event;
}

static inline double score_of(int64_t key) {
    double score;
    key >>= 1;
    memcpy(&score, &key, sizeof score);
    return score;
}

/* Where wanted rows are: for each slot of a grid whether all rows of it are wanted (1), none (0), or
 * some, which the index tells. */
enum { NONE, ALL, SOME };

typedef struct {
    Grid grid;
    const uint8_t *marks;
    Index lows;
    const double *high;
} Wanted;

/* The keys of wanted rows, of all without `from`. Returns how many, or -1 where a score is not in
 * [0, 1], or a label neither 0 nor 1. */
#define KEYS(NAME, SCORE, LABEL)                                                                   \
    static int64_t NAME(const SCORE *score, const LABEL *label, int64_t n, const Wanted *from,     \
                        int64_t *keys) {                                                           \
        int64_t found = 0;                                                                         \
        for (int64_t i = 0; i < n; i++) {                                                          \
            const double f = (double)score[i];                                                     \
            const LABEL y = label[i];                                                              \
            int mark = ALL;                                                                        \
            double inside;                                                                         \
            if (!(f >= 0.0 && f <= 1.0) || !(y == 0 || y == 1)) return -1;                         \
            if (from) mark = from->marks[place(f, &from->grid, &inside)];                          \
            if (mark == SOME) mark = wanted(f, &from->lows, from->high) >= 0;                      \
            keys[found] = key_of(f, y == 1); /* no branch: nobody could guess it */                \
            found += mark;                                                                         \
        }                                                                                          \
        return found;                                                                              \
    }

FOR_SCORES(KEYS, key_bytes, uint8_t)
FOR_SCORES(KEYS, key_shorts, uint16_t)
FOR_SCORES(KEYS, key_words, uint32_t)
FOR_SCORES(KEYS, key_longs, uint64_t)
FOR_SCORES(KEYS, key_floats, float)
FOR_SCORES(KEYS, key_doubles, double)

/* Without `marks` all rows are wanted. */
EXPORT int64_t calibrant_keys(const void *score, int64_t score_kind, const void *label,
                              int64_t label_kind, int64_t n, int64_t level, int64_t crowd,
                              const uint8_t *marks, int64_t index_level, const int32_t *start,
                              const double *low, const double *high, int64_t *keys);
int64_t calibrant_keys(const void *score, int64_t score_kind, const void *label, int64_t label_kind,
                       int64_t n, int64_t level, int64_t crowd, const uint8_t *marks,
                       int64_t index_level, const int32_t *start, const double *low,
                       const double *high, int64_t *keys) {
    const Wanted all = {grid_of(level, crowd), marks, index_of(low, start, index_level), high};
    const Wanted *from = marks ? &all : NULL;
#define WITH(NAME)                                                                                 \
    return score_kind == FLOATS ? NAME##_of_floats(score, label, n, from, keys)                    \
                                : NAME##_of_doubles(score, label, n, from, keys)
    switch (label_kind) {
    case BYTES: WITH(key_bytes);
    case SHORTS: WITH(key_shorts);
    case WORDS: WITH(key_words);
    case LONGS: WITH(key_longs);
    case FLOATS: WITH(key_floats);
    default: WITH(key_doubles);
    }
#undef WITH
}

/* Add rows, given as keys, to the cells that closed cells split into. Returns the first row in none,
 * or n. */
EXPORT int64_t calibrant_count_finer(const int64_t *keys, int64_t n, int64_t index_level,
                                     const int32_t *start, const double *low, const double *high,
                                     const int64_t *first, const int64_t *level, int64_t closed,
                                     int64_t bits, int64_t zero, int64_t octaves, void *cells);
int64_t calibrant_count_finer(const int64_t *keys, int64_t n, int64_t index_level,
                              const int32_t *start, const double *low, const double *high,
                              const int64_t *first, const int64_t *level, int64_t closed,
                              int64_t bits, int64_t zero, int64_t octaves, void *cells) {
    const Index lows = index_of(low, start, index_level);
    const Finer finer = {first, level, closed, bits, zero, octaves};
    for (int64_t i = 0; i < n; i++) {
        const double f = score_of(keys[i]);
        const int64_t of = wanted(f, &lows, high);
        double inside;
        const int64_t slot = of < 0 ? -1 : place_in(f, of, &finer, &inside);
        if (slot < 0) return i;
        count((Counts *)cells + slot, f, inside, keys[i] & 1);
    }
    return n;
}

/* Pool sorted keys: each score once, with its rows, and five columns of n doubles one after another:
 * the score, its weight, its events, and how far it moves the walk up, and down. Returns how many
 * scores there are; `totals` are the sums of f^2 and of f y. */
EXPORT int64_t calibrant_pool_keys(const int64_t *keys, int64_t n, int64_t *rows, double *columns,
                                   double *totals);
int64_t calibrant_pool_keys(const int64_t *keys, int64_t n, int64_t *rows, double *columns,
                            double *totals) {
    int64_t pooled = 0;
    totals[0] = totals[1] = 0.0;
    for (int64_t i = 0; i < n; pooled++) {
        const double score = score_of(keys[i]);
        const int64_t start = i;
        double weight, events = 0.0, step;
        for (; i < n && keys[i] >> 1 == keys[start] >> 1; i++) events += (double)(keys[i] & 1);
        weight = (double)(i - start);
        step = events - weight * score;
        rows[pooled] = i - start;
        columns[pooled] = score;
        columns[n + pooled] = weight;
        columns[2 * n + pooled] = events;
        columns[3 * n + pooled] = step > 0 ? step : 0.0;
        columns[4 * n + pooled] = step < 0 ? -step : 0.0;
        totals[0] += weight * score * score;
        totals[1] += events * score;
    }
    return pooled;
}

/* Steps: the value of the last edge that is not above the score. Returns the first row whose score
 * is not in [0, 1], or n. */
#define STEPS(NAME, SCORE)                                                                         \
    static int64_t NAME(const SCORE *score, int64_t n, const Index *edges, const double *values,   \
                        double *out) {                                                             \
        for (int64_t i = 0; i < n; i++) {                                                          \
            const double f = (double)score[i];                                                     \
            const int32_t *start;                                                                  \
            if (!(f >= 0.0 && f <= 1.0)) return i;                                                 \
            start = edges->start + entry_of(f, edges);                                             \
            out[i] = values[last_up_to(f, edges->numbers, start[0], start[1])];                    \
        }                                                                                          \
        return n;                                                                                  \
    }

STEPS(steps_of_doubles, double)
STEPS(steps_of_floats, float)

EXPORT int64_t calibrant_steps(const void *score, int64_t score_kind, int64_t n, int64_t level,
                               const int32_t *start, const double *numbers, const double *values,
                               double *out);
int64_t calibrant_steps(const void *score, int64_t score_kind, int64_t n, int64_t level,
                        const int32_t *start, const double *numbers, const double *values,
                        double *out) {
    const Index edges = index_of(numbers, start, level);
    return score_kind == FLOATS ? steps_of_floats(score, n, &edges, values, out)
                                : steps_of_doubles(score, n, &edges, values, out);
}

/* Lines from knot to knot, level before the first and after number `last`; the operations are
 * those of numpy, in their order. */
#define LINES(NAME, SCORE)                                                                         \
    static int64_t NAME(const SCORE *score, int64_t n, const Index *index, const double *values,   \
                        int64_t last, double *out) {                                               \
        const double *knots = index->numbers;                                                      \
        for (int64_t i = 0; i < n; i++) {                                                          \
            const double f = (double)score[i];                                                     \
            const int32_t *start;                                                                  \
            int64_t left;                                                                          \
            double share, line, end;                                                               \
            if (!(f >= 0.0 && f <= 1.0)) return i;                                                 \
            start = index->start + entry_of(f, index);                                             \
            left = last_up_to(f, knots, start[0], start[1]);                                       \
            if (left == last) left = last - 1;                                                     \
            share = (f - knots[left]) / (knots[left + 1] - knots[left]);                           \
            share = share < 0.0 ? 0.0 : share;                                                     \
            end = values[left + 1];                                                                \
            line = values[left] + share * (end - values[left]);                                    \
            out[i] = share >= 1.0 || line > end ? end : line;                                      \
        }                                                                                          \
        return n;                                                                                  \
    }

LINES(lines_of_doubles, double)
LINES(lines_of_floats, float)

EXPORT int64_t calibrant_lines(const void *score, int64_t score_kind, int64_t n, int64_t level,
                               const int32_t *start, const double *numbers, const double *values,
                               int64_t last, double *out);
int64_t calibrant_lines(const void *score, int64_t score_kind, int64_t n, int64_t level,
                        const int32_t *start, const double *numbers, const double *values,
                        int64_t last, double *out) {
    const Index knots = index_of(numbers, start, level);
    return score_kind == FLOATS ? lines_of_floats(score, n, &knots, values, last, out)
                                : lines_of_doubles(score, n, &knots, values, last, out);
}

/* Pool adjacent violators on points in order: where each block begins; returns how many there are.
 * `weight` and `positives` are used up: they hold the sums of the blocks. */
EXPORT int64_t calibrant_pool(double *weight, double *positives, int64_t n, int64_t *first);
int64_t calibrant_pool(double *weight, double *positives, int64_t n, int64_t *first) {
    int64_t blocks = 0;
    for (int64_t i = 0; i < n; i++) {
        double w = weight[i], s = positives[i];
        int64_t start = i;
        /* quotients: the product of two weights may be too large for a double, or too small */
        while (blocks > 0 && positives[blocks - 1] / weight[blocks - 1] >= s / w) {
            blocks -= 1;
            w += weight[blocks];
            s += positives[blocks];
            start = first[blocks];
        }
        weight[blocks] = w;
        positives[blocks] = s;
        first[blocks] = start;
        blocks += 1;
    }
    return blocks;
}

/* Sums of the first 0, 1, ..., n values in twice the digits of a double (Ogita, Rump, Oishi). */
EXPORT void calibrant_running_sum(const double *values, int64_t n, double *high, double *low);
void calibrant_running_sum(const double *values, int64_t n, double *high, double *low) {
    double sum = 0.0, rest = 0.0;
    high[0] = low[0] = 0.0;
    for (int64_t i = 0; i < n; i++) {
        double total, of_rest;
        add_to(&sum, &rest, values[i]);
        total = sum + rest;
        of_rest = total - sum;
        high[i + 1] = total;
        low[i + 1] = (sum - (total - of_rest)) + (rest - of_rest);
    }
}
