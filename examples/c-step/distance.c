#include <stddef.h>

/* The squared distance of two points with n coordinates. */
double squared_distance(const double *a, const double *b, size_t n) {
    double sum = 0.0;
    for (size_t i = 0; i < n; i++) {
        double difference = a[i] - b[i];
        sum += difference * difference;
    }
    return sum;
}
