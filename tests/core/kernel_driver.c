/* The kernel under AddressSanitizer and UBSan: random and hostile rows, held to plain loops.
 *
 * Every buffer is as long as the kernel may touch and no longer, so that a step beyond is seen.
 */
#include "../../src/calibrant/core/kernel.c"

#include <stdio.h>
#include <stdlib.h>

#define CHECK(HOLDS)                                                                               \
    do {                                                                                           \
        if (!(HOLDS)) {                                                                            \
            fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #HOLDS);             \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

/* ---- what is drawn */

static uint64_t state = 88172645463325252u;

static uint64_t bits64(void) { /* xorshift64* */
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return state * 2685821657736338717u;
}

static int64_t below(int64_t limit) { return (int64_t)((bits64() >> 11) % (uint64_t)limit); }

static double unit(void) { return (double)(bits64() >> 11) / 9007199254740992.0; }

/* Uniform, tied, crowded down to the smallest doubles, next to the edges of cells, and the ends. */
static double draw_score(void) {
    const double edge = (double)below(65) / 64;
    switch (below(8)) {
    case 0: return edge;
    case 1: return ldexp(unit(), -(int)below(1080));
    case 2: return ldexp(1.0, -(int)below(1075));
    case 3: return nextafter(edge, 0.0);
    case 4: return nextafter(edge, 1.0);
    case 5: return below(2) ? 0.0 : -0.0;
    case 6: return below(2) ? 1.0 : nextafter(1.0, 0.0);
    default: return unit();
    }
}

static double bad_score(void) {
    static const double bad[] = {-4.9406564584124654e-324, -1.0, 2.0, 1e308, -1e308, 1.0 + 1e-15};
    const int64_t which = below(9);
    if (which == 6) return (double)NAN;
    if (which == 7) return (double)INFINITY;
    if (which == 8) return -(double)INFINITY;
    return bad[which];
}

static void *room(int64_t count, size_t size) {
    void *found = malloc((size_t)count * size);
    CHECK(found != NULL || count == 0);
    return found;
}

static void *zeros(int64_t count, size_t size) {
    void *found = room(count, size);
    if (count) memset(found, 0, (size_t)count * size);
    return found;
}

static double *draw_scores(int64_t n) {
    double *score = room(n, sizeof *score);
    for (int64_t i = 0; i < n; i++) score[i] = draw_score();
    return score;
}

static int by_value(const void *left, const void *right) {
    const double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static int by_key(const void *left, const void *right) {
    const int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

/* Different scores in order, at least `least` of them; `n` becomes how many. */
static double *draw_distinct(int64_t *n, int64_t least) {
    for (;;) {
        double *score = draw_scores(*n);
        int64_t kept = 0;
        qsort(score, (size_t)*n, sizeof *score, by_value);
        for (int64_t i = 0; i < *n; i++) {
            if (kept == 0 || score[i] > score[kept - 1]) score[kept++] = score[i] + 0.0;
        }
        if (kept >= least) {
            double *found = room(kept, sizeof *found);
            memcpy(found, score, (size_t)kept * sizeof *found);
            free(score);
            *n = kept;
            return found;
        }
        free(score);
        *n += least;
    }
}

static const int64_t SIZES[] = {0, 1, 2, 3, 64, 700};
enum { N_SIZES = sizeof SIZES / sizeof SIZES[0] };

/* ---- cells of a grid */

static int64_t slot_of(double score, int64_t level, int64_t crowd, double *inside) {
    double scaled = ldexp(score, (int)(level + crowd)), cell = floor(scaled);
    int64_t slot;
    if (cell >= ldexp(1.0, (int)level)) {
        scaled = ldexp(score, (int)level);
        cell = floor(scaled);
        if (score >= 1) cell -= 1;
        slot = (int64_t)cell + (crowd ? (int64_t)1 << level : 0);
    } else {
        slot = (int64_t)cell;
    }
    *inside = scaled - cell;
    return slot;
}

static void *draw_labels(int64_t kind, int64_t n) {
    static const size_t SIZE[] = {1, 2, 4, 8, sizeof(float), sizeof(double)};
    char *label = room(n, SIZE[kind]);
    for (int64_t i = 0; i < n; i++) {
        const int event = (int)below(2);
        switch (kind) {
        case BYTES: ((uint8_t *)label)[i] = (uint8_t)event; break;
        case SHORTS: ((uint16_t *)(void *)label)[i] = (uint16_t)event; break;
        case WORDS: ((uint32_t *)(void *)label)[i] = (uint32_t)event; break;
        case LONGS: ((uint64_t *)(void *)label)[i] = (uint64_t)event; break;
        case FLOATS: ((float *)(void *)label)[i] = event ? 1.0f : -0.0f; break;
        default: ((double *)(void *)label)[i] = event ? 1.0 : -0.0; break;
        }
    }
    return label;
}

static int event_at(const void *label, int64_t kind, int64_t i) {
    switch (kind) {
    case BYTES: return ((const uint8_t *)label)[i] == 1;
    case SHORTS: return ((const uint16_t *)label)[i] == 1;
    case WORDS: return ((const uint32_t *)label)[i] == 1;
    case LONGS: return ((const uint64_t *)label)[i] == 1;
    case FLOATS: return ((const float *)label)[i] == 1;
    default: return ((const double *)label)[i] == 1;
    }
}

/* Something that is neither 0 nor 1, also as a negative number or where only high bytes are set. */
static void spoil_label(void *label, int64_t kind, int64_t i) {
    static const double bad[] = {0.5, -1.0, 2.0, 5e-40};
    const double value = below(5) ? bad[below(4)] : (double)NAN;
    const uint64_t whole = below(2) ? UINT64_MAX : (uint64_t)1 << 63;
    switch (kind) {
    case BYTES: ((uint8_t *)label)[i] = (uint8_t)(2 + below(254)); break;
    case SHORTS: ((uint16_t *)label)[i] = below(2) ? 256 : UINT16_MAX; break;
    case WORDS: ((uint32_t *)label)[i] = below(2) ? 65536 : UINT32_MAX; break;
    case LONGS: ((uint64_t *)label)[i] = below(2) ? (uint64_t)1 << 32 : whole; break;
    case FLOATS: ((float *)label)[i] = (float)value; break;
    default: ((double *)label)[i] = value; break;
    }
}

__extension__ typedef unsigned __int128 Wide;

typedef struct {
    int64_t rows[2], several;
    Wide inside[2];
    double score;
} Plain;

static void see(Plain *cell, double score, double inside, int event) {
    if (cell->rows[0] + cell->rows[1] == 0) cell->score = score;
    cell->several |= cell->score != score;
    cell->rows[event] += 1;
    cell->inside[event] += (Wide)floor(ldexp(inside, 62));
}

static void check_counts(const Counts *found, const Plain *expected, int64_t slots) {
    for (int64_t k = 0; k < slots; k++) {
        const int64_t rows = expected[k].rows[0] + expected[k].rows[1];
        for (int event = 0; event < 2; event++) {
            CHECK(found[k].rows[event] == (uint64_t)expected[k].rows[event]);
            CHECK(((Wide)found[k].carried[event] << 64) + found[k].inside[event]
                  == expected[k].inside[event]);
        }
        if (expected[k].several) CHECK(isnan(found[k].one));
        if (rows && !expected[k].several) CHECK(found[k].one == expected[k].score);
        if (rows && found[k].one == 0) CHECK(!signbit(found[k].one));
    }
}

static void test_count_rows(int64_t n, int64_t kind, int64_t floats, int64_t groups) {
    const int64_t level = below(11), crowd = below(2) ? below(level + 1) : 0;
    const int64_t block = 1 + below(n + 2), blocks = (n + block - 1) / block;
    const int64_t width = ((int64_t)1 << level) << (crowd > 0), slots = width * groups;
    double *wide = draw_scores(n), *squares = zeros(blocks, sizeof *squares);
    float *narrow = room(n, sizeof *narrow);
    void *label = draw_labels(kind, n);
    int32_t *group = room(n, sizeof *group);
    Counts *cells = zeros(slots, sizeof *cells);
    Plain *expected = zeros(slots, sizeof *expected);
    const void *score = floats ? (void *)narrow : (void *)wide;
    const int64_t score_kind = floats ? FLOATS : DOUBLES;
    for (int64_t i = 0; i < n; i++) {
        double inside;
        int64_t slot;
        narrow[i] = (float)wide[i];
        if (floats) wide[i] = (double)narrow[i];
        group[i] = (int32_t)below(groups);
        slot = slot_of(wide[i], level, crowd, &inside) + width * group[i];
        see(&expected[slot], wide[i], inside, event_at(label, kind, i));
    }
    CHECK(calibrant_count_rows(score, score_kind, label, kind, n, level, crowd, block,
                               groups > 1 ? group : NULL, groups, cells, squares) == n);
    check_counts(cells, expected, slots);
    for (int64_t k = 0; k < blocks; k++) {
        double sum = 0;
        for (int64_t i = k * block; i < n && i < (k + 1) * block; i++) sum += wide[i] * wide[i];
        CHECK(fabs(sum - squares[k]) <= 1e-12 * (double)block);
    }
    if (n) { /* the row that breaks a rule is named, and none after it is looked at */
        const int64_t bad = below(n);
        const int64_t what = below(groups > 1 ? 3 : 2);
        if (what == 0) {
            wide[bad] = bad_score();
            narrow[bad] = (float)(fabs(wide[bad]) > 1e30 ? -1.0 : wide[bad]);
            if (narrow[bad] == 0 || narrow[bad] == 1) narrow[bad] = (float)NAN;
        } else if (what == 1) {
            spoil_label(label, kind, bad);
        } else {
            group[bad] = below(2) ? -1 : (int32_t)groups;
        }
        CHECK(calibrant_count_rows(score, score_kind, label, kind, n, level, crowd, block,
                                   groups > 1 ? group : NULL, groups, cells, squares) == bad);
    }
    free(wide), free(narrow), free(label), free(group), free(cells), free(expected), free(squares);
}

static void test_place(int64_t n) {
    const int64_t level = below(21), crowd = below(2) ? below(level + 1) : 0;
    double *score = draw_scores(n), *inside = room(n, sizeof *inside);
    int64_t *slot = room(n, sizeof *slot);
    CHECK(calibrant_place(score, n, level, crowd, slot, inside) == n);
    for (int64_t i = 0; i < n; i++) {
        double expected;
        CHECK(slot[i] == slot_of(score[i], level, crowd, &expected));
        CHECK(inside[i] == expected && inside[i] >= 0 && inside[i] <= 1);
    }
    if (n) {
        const int64_t bad = below(n);
        score[bad] = bad_score();
        CHECK(calibrant_place(score, n, level, crowd, slot, inside) == bad);
    }
    free(score), free(inside), free(slot);
}

/* ---- an index, and what is looked up in it */

static int32_t *index_for(const double *numbers, int64_t count, int64_t level, int64_t least) {
    const int64_t entries = level < 0 ? ((int64_t)0x3FF << 5) + 2 : ((int64_t)1 << level) + 2;
    int32_t *start = room(entries, sizeof *start);
    int64_t last = -1;
    for (int64_t e = 0; e < entries; e++) {
        const uint64_t bits = (uint64_t)e << 47;
        double lowest;
        if (level < 0)
            memcpy(&lowest, &bits, sizeof lowest);
        else
            lowest = ldexp((double)e, -(int)level);
        while (last + 1 < count && numbers[last + 1] <= lowest) last++;
        start[e] = (int32_t)(last < least ? least : last);
    }
    return start;
}

static int64_t linear(double score, const double *numbers, int64_t count) {
    int64_t last = -1;
    while (last + 1 < count && numbers[last + 1] <= score) last++;
    return last;
}

/* Half of the scores are drawn anew, half lie on a number or right next to it. */
static double near(const double *numbers, int64_t count) {
    const double one = numbers[below(count)];
    switch (below(6)) {
    case 0: return one;
    case 1: return nextafter(one, 0.0);
    case 2: return nextafter(one, 1.0);
    default: return draw_score();
    }
}

static double line_at(double f, const double *knots, const double *values, int64_t count) {
    int64_t left = linear(f, knots, count);
    double share, end;
    left = left < 0 ? 0 : left > count - 2 ? count - 2 : left;
    share = (f - knots[left]) / (knots[left + 1] - knots[left]);
    share = share < 0 ? 0 : share > 1 ? 1 : share;
    end = values[left + 1];
    if (share >= 1) return end;
    return fmin(values[left] + share * (end - values[left]), end);
}

static void test_looked_up(int64_t n, int64_t level, int floats) {
    int64_t count = 2 + below(90);
    double *edges = draw_distinct(&count, 2), *knots = room(count, sizeof *knots);
    double *values = draw_scores(count), *wide = room(n, sizeof *wide);
    double *out = room(n, sizeof *out);
    float *narrow = room(n, sizeof *narrow);
    int32_t *of_edges, *of_knots;
    const void *score = floats ? (void *)narrow : (void *)wide;
    const int64_t kind = floats ? FLOATS : DOUBLES;
    memcpy(knots, edges, (size_t)count * sizeof *knots);
    edges[0] = 0.0;
    qsort(values, (size_t)count, sizeof *values, by_value);
    for (int64_t i = 0; i < n; i++) {
        wide[i] = near(knots, count);
        narrow[i] = (float)wide[i];
        if (floats) wide[i] = (double)narrow[i];
    }
    of_edges = index_for(edges, count, level, 0);
    of_knots = index_for(knots, count, level, 0);
    CHECK(calibrant_steps(score, kind, n, level, of_edges, edges, values, out) == n);
    for (int64_t i = 0; i < n; i++) CHECK(out[i] == values[linear(wide[i], edges, count)]);
    CHECK(calibrant_lines(score, kind, n, level, of_knots, knots, values, count - 1, out) == n);
    for (int64_t i = 0; i < n; i++) CHECK(out[i] == line_at(wide[i], knots, values, count));
    if (n) {
        const int64_t bad = below(n);
        wide[bad] = -1.0;
        narrow[bad] = (float)NAN;
        CHECK(calibrant_steps(score, kind, n, level, of_edges, edges, values, out) == bad);
        CHECK(calibrant_lines(score, kind, n, level, of_knots, knots, values, count - 1, out)
              == bad);
    }
    free(edges), free(knots), free(values), free(wide), free(narrow), free(out);
    free(of_edges), free(of_knots);
}

/* ---- closed cells: wanted rows, and what they split into */

/* Some cells in order, each named by its level and number, and none inside another. */
typedef struct {
    int64_t count, zero, bits, octaves, slots;
    int64_t *level, *first;
    double *low, *high;
} Closed;

/* Cells of one level and parts of such cells; the one at zero may be as fine as doubles go. */
static Closed draw_closed(void) {
    Closed closed = {0, -1, 1 + below(5), -1, 0, NULL, NULL, NULL, NULL};
    const int64_t coarse = 1 + below(10), limit = (int64_t)1 << coarse;
    int64_t *number = room(limit, sizeof *number), taken = 0;
    for (int64_t cell = 0; cell < limit && taken < 40; cell++)
        if (below(3) == 0) number[taken++] = cell;
    if (taken == 0) number[taken++] = below(limit);
    closed.count = taken;
    closed.level = room(taken, sizeof *closed.level);
    closed.first = room(taken, sizeof *closed.first);
    closed.low = room(taken, sizeof *closed.low);
    closed.high = room(taken, sizeof *closed.high);
    for (int64_t k = 0; k < taken; k++) {
        const int64_t finer = below(2) ? below(12) : 0;
        int64_t level = coarse + finer, cell = (number[k] << finer) + below((int64_t)1 << finer);
        if (number[k] == 0 && below(2)) {
            level = coarse + below(1070 - coarse - closed.bits);
            cell = below(2);
        }
        closed.low[k] = ldexp((double)cell, -(int)level);
        closed.high[k] = ldexp((double)(cell + 1), -(int)level);
        if (closed.high[k] < 1) closed.high[k] = nextafter(closed.high[k], 0.0);
        closed.level[k] = level + closed.bits;
        closed.first[k] = cell << closed.bits;
        if (cell == 0) {
            closed.zero = k;
            closed.octaves = 1074 - level;
        }
    }
    closed.slots = (closed.count << closed.bits) + closed.octaves + 1;
    free(number);
    return closed;
}

static int64_t closed_of(double score, const Closed *closed) {
    for (int64_t k = 0; k < closed->count; k++)
        if (score >= closed->low[k] && score <= closed->high[k]) return k;
    return -1;
}

/* The lowest score of a slot among the finer ones. */
static double low_of(int64_t slot, const Closed *closed) {
    const int64_t octave = slot - (closed->count << closed->bits);
    const int64_t of = slot >> closed->bits;
    if (octave < 0)
        return ldexp((double)(closed->first[of] + (slot & (((int64_t)1 << closed->bits) - 1))),
                     -(int)closed->level[of]);
    return octave == closed->octaves ? 0.0
                                     : ldexp(1.0, -(int)(1074 - closed->octaves + 1 + octave));
}

static double width_of(int64_t slot, const Closed *closed) {
    if (slot >= closed->count << closed->bits) return low_of(slot, closed);
    return ldexp(1.0, -(int)closed->level[slot >> closed->bits]);
}

static void check_finer(double score, int64_t slot, double inside, const Closed *closed) {
    double low, width;
    CHECK(slot >= 0 && slot < closed->slots);
    low = low_of(slot, closed);
    width = width_of(slot, closed);
    CHECK(score >= low && (score < low + width || score == 1.0 || score == 0.0));
    CHECK(inside >= 0 && inside <= 1 && low + inside * width == score);
}

static void test_finer(int64_t n) {
    Closed closed = draw_closed();
    double *score = room(n, sizeof *score), *inside = room(n, sizeof *inside);
    int64_t *which = room(n, sizeof *which), *slot = room(n, sizeof *slot);
    for (int64_t i = 0; i < n; i++) {
        do {
            score[i] = below(2) ? near(closed.low, closed.count) : near(closed.high, closed.count);
            which[i] = closed_of(score[i], &closed);
        } while (which[i] < 0);
    }
    CHECK(calibrant_place_finer(score, which, n, closed.first, closed.level, closed.count,
                                closed.bits, closed.zero, closed.octaves, slot, inside) == n);
    for (int64_t i = 0; i < n; i++) check_finer(score[i], slot[i], inside[i], &closed);
    if (n) {
        const int64_t bad = below(n), what = below(4), last = closed.count - 1;
        if (what == 0) score[bad] = bad_score();
        if (what == 1) which[bad] = below(2) ? -1 : closed.count;
        if (what == 2) { /* under the cell that it is said to lie in */
            which[bad] = last;
            score[bad] = closed.low[last] > 0 ? closed.low[last] / 4 : (double)NAN;
        }
        if (what == 3) { /* above it */
            which[bad] = 0;
            score[bad] = closed.high[0] < 0.5 && below(2) ? 0.75 : closed.high[0] < 1 ? 1.0 : 2.0;
        }
        CHECK(calibrant_place_finer(score, which, n, closed.first, closed.level, closed.count,
                                    closed.bits, closed.zero, closed.octaves, slot, inside) == bad);
    }
    free(score), free(inside), free(which), free(slot);
    free(closed.level), free(closed.first), free(closed.low), free(closed.high);
}

static void test_select_and_keys(int64_t n, int64_t kind, int64_t index_level) {
    const int64_t level = 10, crowd = below(2) ? 1 + below(8) : 0;
    const int64_t slots = ((int64_t)1 << level) << (crowd > 0);
    Closed closed = draw_closed();
    int32_t *start = index_for(closed.low, closed.count, index_level, -1);
    double *score = room(n, sizeof *score);
    void *label = draw_labels(kind, n);
    uint8_t *marks = room(slots, 1);
    int64_t *row = room(n, sizeof *row), *which = room(n, sizeof *which);
    int64_t *keys = room(n, sizeof *keys), found, kept = 0;
    Counts *cells = zeros(closed.slots, sizeof *cells);
    memset(marks, SOME, (size_t)slots);
    for (int64_t i = 0; i < n; i++) score[i] = near(closed.low, closed.count);
    found = calibrant_select(score, n, index_level, start, closed.low, closed.high, row, which);
    for (int64_t i = 0; i < n; i++) {
        const int64_t of = closed_of(score[i], &closed);
        double inside;
        if (of < 0) {
            marks[slot_of(score[i], level, crowd, &inside)] = (uint8_t)(below(2) ? SOME : NONE);
            continue;
        }
        CHECK(kept < found && row[kept] == i && which[kept] == of);
        kept += 1;
    }
    CHECK(kept == found);
    for (int64_t i = 0; i < n; i++) { /* no slot is passed over that holds a wanted row */
        double inside;
        const int64_t slot = slot_of(score[i], level, crowd, &inside);
        if (closed_of(score[i], &closed) >= 0) marks[slot] = SOME;
    }
    CHECK(calibrant_keys(score, DOUBLES, label, kind, n, level, crowd, marks, index_level, start,
                         closed.low, closed.high, keys) == found);
    for (int64_t k = 0; k < found; k++) {
        CHECK(score_of(keys[k]) == score[row[k]] && !signbit(score_of(keys[k])));
        CHECK((keys[k] & 1) == event_at(label, kind, row[k]));
    }
    CHECK(calibrant_count_finer(keys, found, index_level, start, closed.low, closed.high,
                                closed.first, closed.level, closed.count, closed.bits, closed.zero,
                                closed.octaves, cells) == found);
    kept = 0;
    for (int64_t k = 0; k < closed.slots; k++) {
        const double one = cells[k].one;
        const int64_t rows = (int64_t)cells[k].rows[0] + cells[k].rows[1];
        if (rows && !isnan(one)) CHECK(one >= low_of(k, &closed));
        kept += rows;
    }
    CHECK(kept == found);
    /* all rows, without marks, in order */
    CHECK(calibrant_keys(score, DOUBLES, label, kind, n, 0, 0, NULL, 0, NULL, NULL, NULL, keys)
          == n);
    if (n) qsort(keys, (size_t)n, sizeof *keys, by_key);
    for (int64_t k = 1; k < n; k++) CHECK(score_of(keys[k - 1]) <= score_of(keys[k]));
    if (n) {
        const int64_t bad = below(n);
        if (below(2))
            score[bad] = bad_score();
        else
            spoil_label(label, kind, bad);
        CHECK(calibrant_keys(score, DOUBLES, label, kind, n, level, crowd, marks, index_level,
                             start, closed.low, closed.high, keys) == -1);
        score[bad] = bad_score();
        CHECK(calibrant_select(score, n, index_level, start, closed.low, closed.high, row, which)
              == -1);
    }
    free(start), free(score), free(label), free(marks), free(row), free(which), free(keys);
    free(cells), free(closed.level), free(closed.first), free(closed.low), free(closed.high);
}

/* Keys of scores that lie in no wanted cell, or are no scores at all: the first one is named. */
static void test_stray_keys(void) {
    Closed closed = draw_closed();
    int32_t *start = index_for(closed.low, closed.count, 6, -1);
    Counts *cells = zeros(closed.slots, sizeof *cells);
    int64_t *keys = room(2, sizeof *keys);
    keys[0] = key_of(closed.low[0], 1);
    for (int round = 0; round < 20; round++) {
        double score = draw_score();
        if (closed_of(score, &closed) >= 0) continue;
        keys[1] = key_of(score, 0);
        CHECK(calibrant_count_finer(keys, 2, 6, start, closed.low, closed.high, closed.first,
                                    closed.level, closed.count, closed.bits, closed.zero,
                                    closed.octaves, cells) == 1);
    }
    free(start), free(cells), free(keys);
    free(closed.level), free(closed.first), free(closed.low), free(closed.high);
}

static void test_pool_keys(int64_t n) {
    int64_t *keys = room(n, sizeof *keys), *rows = room(n, sizeof *rows), total = 0, found;
    double *columns = room(5 * n, sizeof *columns), *totals = room(2, sizeof *totals);
    const double *score = columns, *weight = columns + n, *events = columns + 2 * n;
    double squares = 0.0, products = 0.0;
    for (int64_t i = 0; i < n; i++) keys[i] = key_of(draw_score(), (int)below(2));
    if (n) qsort(keys, (size_t)n, sizeof *keys, by_key);
    found = calibrant_pool_keys(keys, n, rows, columns, totals);
    for (int64_t k = 0; k < found; k++) {
        int64_t here = 0, of_these = 0;
        CHECK(k == 0 || score[k] > score[k - 1]);
        for (int64_t i = 0; i < n; i++) {
            here += score_of(keys[i]) == score[k];
            of_these += score_of(keys[i]) == score[k] && (keys[i] & 1);
        }
        CHECK(rows[k] == here && weight[k] == (double)here && events[k] == (double)of_these);
        CHECK(columns[3 * n + k] - columns[4 * n + k] == events[k] - weight[k] * score[k]);
        CHECK(columns[3 * n + k] >= 0 && columns[4 * n + k] >= 0);
        total += here;
        squares += weight[k] * score[k] * score[k];
        products += events[k] * score[k];
    }
    CHECK(total == n && totals[0] == squares && totals[1] == products);
    free(keys), free(rows), free(columns), free(totals);
}

/* ---- rows added to slots */

static void test_added(int64_t n, int weighted) {
    const int64_t slots = 1 + below(20);
    double *score = draw_scores(n), *label = draw_scores(n), *inside = room(n, sizeof *inside);
    double *weight = room(n, sizeof *weight);
    uint8_t *event = draw_labels(BYTES, n);
    int64_t *slot = room(n, sizeof *slot);
    Counts *cells = zeros(slots, sizeof *cells);
    Weighted *sums = zeros(slots, sizeof *sums);
    Plain *expected = zeros(slots, sizeof *expected);
    for (int64_t i = 0; i < n; i++) {
        slot[i] = below(slots);
        inside[i] = unit();
        weight[i] = 0.5 + unit();
        see(&expected[slot[i]], score[i], inside[i], event[i]);
    }
    CHECK(calibrant_add_counts(slot, inside, score, event, n, slots, cells) == n);
    check_counts(cells, expected, slots);
    CHECK(calibrant_add_weighted(slot, score, label, weighted ? weight : NULL, n, slots, sums) == n);
    for (int64_t k = 0; k < slots; k++) {
        long double total[4] = {0, 0, 0, 0};
        int64_t rows = 0;
        for (int64_t i = 0; i < n; i++) {
            const long double w = weighted ? weight[i] : 1, step = label[i] - score[i];
            if (slot[i] != k) continue;
            rows += 1;
            total[0] += w;
            total[1] += w * label[i];
            total[2] += w * (step > 0 ? step : 0);
            total[3] += w * (step < 0 ? -step : 0);
        }
        CHECK(sums[k].rows == rows);
        CHECK(rows == 0 || (expected[k].several ? isnan(sums[k].one)
                                                : sums[k].one == expected[k].score));
        for (int j = 0; j < 4; j++)
            CHECK(fabsl(sums[k].sum[j] + sums[k].rest[j] - total[j]) <= 1e-12L);
    }
    if (n) { /* what is no number adds up to none; a slot outside is named */
        const int64_t bad = below(n);
        weight[bad] = bad_score();
        label[bad] = bad_score();
        CHECK(calibrant_add_weighted(slot, score, label, weight, n, slots, sums) == n);
        slot[bad] = below(2) ? -1 : slots;
        CHECK(calibrant_add_counts(slot, inside, score, event, n, slots, cells) == bad);
        CHECK(calibrant_add_weighted(slot, score, label, weight, n, slots, sums) == bad);
    }
    free(score), free(label), free(inside), free(weight), free(event), free(slot);
    free(cells), free(sums), free(expected);
}

/* ---- pool adjacent violators, and running sums */

/* Blocks are right if their rates rise, and none could be cut so that the rates rise inside. */
static void test_pool(int64_t n, double scale) {
    double *weight = room(n, sizeof *weight), *positives = room(n, sizeof *positives);
    double *w = room(n, sizeof *w), *s = room(n, sizeof *s);
    int64_t *first = room(n, sizeof *first), blocks;
    double last = -1;
    for (int64_t i = 0; i < n; i++) {
        const int64_t rows = 1 + below(4);
        weight[i] = w[i] = scale * (double)rows;
        positives[i] = s[i] = scale * (double)below(rows + 1);
    }
    blocks = calibrant_pool(w, s, n, first);
    CHECK(blocks <= n && (n == 0 || (blocks > 0 && first[0] == 0)));
    for (int64_t b = 0; b < blocks; b++) {
        const int64_t stop = b + 1 < blocks ? first[b + 1] : n;
        double sum_w = 0, sum_s = 0, rate;
        CHECK(first[b] < stop);
        for (int64_t i = first[b]; i < stop; i++) sum_w += weight[i], sum_s += positives[i];
        rate = sum_s / sum_w;
        CHECK(rate > last);
        last = rate;
        sum_w = sum_s = 0;
        for (int64_t i = first[b]; i < stop; i++) {
            sum_w += weight[i], sum_s += positives[i];
            CHECK(sum_s / sum_w >= rate * (1 - 1e-12));
        }
    }
    for (int64_t i = 0; i < n; i++) { /* rubbish stays inside of its buffers */
        w[i] = below(3) ? bad_score() : 0.0;
        s[i] = below(3) ? bad_score() : 0.0;
    }
    blocks = calibrant_pool(w, s, n, first);
    CHECK(blocks >= (n > 0) && blocks <= n);
    free(weight), free(positives), free(w), free(s), free(first);
}

static void test_running_sum(int64_t n) {
    double *values = room(n, sizeof *values);
    double *high = room(n + 1, sizeof *high), *low = room(n + 1, sizeof *low);
    long double sum = 0, size = 0;
    for (int64_t i = 0; i < n; i++) values[i] = (unit() - 0.5) * ldexp(1.0, (int)below(30));
    calibrant_running_sum(values, n, high, low);
    for (int64_t i = 0; i <= n; i++) {
        CHECK(fabsl((long double)high[i] + low[i] - sum) <= 1e-16L * size);
        CHECK(high[i] + low[i] == high[i]);
        if (i < n) sum += values[i], size += fabsl((long double)values[i]);
    }
    for (int64_t i = 0; i < n; i++) values[i] = bad_score();
    calibrant_running_sum(values, n, high, low);
    free(values), free(high), free(low);
}

int main(void) {
    CHECK(strlen(calibrant_source()) > 0);
    for (int round = 0; round < 120; round++) {
        for (int at = 0; at < N_SIZES; at++) {
            const int64_t n = SIZES[at];
            for (int64_t kind = BYTES; kind <= DOUBLES; kind++) {
                for (int floats = 0; floats < 2; floats++) {
                    test_count_rows(n, kind, floats, 1);
                    test_count_rows(n, kind, floats, 2 + below(3));
                }
                test_select_and_keys(n, kind, round & 1 ? -1 : 6 + below(4));
            }
            for (int floats = 0; floats < 2; floats++) {
                test_looked_up(n, 6 + below(6), floats);
                test_looked_up(n, -1, floats);
                test_added(n, floats);
            }
            test_place(n);
            test_finer(n);
            test_stray_keys();
            test_pool_keys(n);
            test_pool(n, 1.0);
            test_pool(n, ldexp(1.0, -700)); /* no product of two weights is a double */
            test_pool(n, ldexp(1.0, 700));
            test_running_sum(n);
        }
    }
    puts("the kernel holds under AddressSanitizer and UBSan");
    return 0;
}
