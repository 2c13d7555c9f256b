package io.verbena.elle.history;

/**
 * Boxes longs so that equal ones near each other in a history are one object: most values of a history occur two or
 * three times within a short while.
 */
final class LongBoxes
{
    private static final int LENGTH = 1 << 12;

    private final Long[] boxes = new Long[LENGTH];

    Long box(final long value)
    {
        final int slot = (int)(value ^ value >>> 12) & LENGTH - 1;
        Long boxed = boxes[slot];
        if (boxed == null || boxed != value)
        {
            boxed = value;
            boxes[slot] = boxed;
        }
        return boxed;
    }
}
