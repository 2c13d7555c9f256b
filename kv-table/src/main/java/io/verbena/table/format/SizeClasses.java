package io.verbena.table.format;

/**
 * The block lengths that exist: 32 classes from 64 B to 96 KiB, all multiples of 64. Multiples of 64 up to 512 B, then
 * four steps to each doubling up to 8 KiB, then wider ones. The class stands in the slot word, so that one READ of
 * exactly this length fetches the block. Part of the slot word's format: classes never change under one {@link
 * SlotWord#FORMAT_VERSION}. Stateless.
 */
public final class SizeClasses
{
    private static final int[] LENGTHS = {
        64, 128, 192, 256, 320, 384, 448, 512,
        640, 768, 896, 1024, 1280, 1536, 1792, 2048,
        2560, 3072, 3584, 4096, 5120, 6144, 7168, 8192,
        10240, 12288, 16384, 20480, 32768, 49152, 73728, 98304 };

    /** How many classes there are. */
    public static final int COUNT = LENGTHS.length;
    /** Longest block. */
    public static final int MAX_BLOCK_BYTES = LENGTHS[COUNT - 1];

    private static final int STEP_BYTES = 64;
    private static final byte[] CLASS_OF_STEP = new byte[MAX_BLOCK_BYTES / STEP_BYTES + 1];

    static
    {
        int sizeClass = 0;
        for (int step = 0; step < CLASS_OF_STEP.length; step++)
        {
            while (LENGTHS[sizeClass] < step * STEP_BYTES)
            {
                sizeClass++;
            }
            CLASS_OF_STEP[step] = (byte)sizeClass;
        }
        for (int i = 0; i < COUNT; i++)
        {
            if (LENGTHS[i] % STEP_BYTES != 0 || i > 0 && LENGTHS[i] <= LENGTHS[i - 1])
            {
                throw new IllegalStateException(
                    "size class " + i + " is not an ascending multiple of 64: " + LENGTHS[i]);
            }
        }
    }

    private SizeClasses()
    {
    }

    /** @return bytes of a block of this class, 0 to 31. */
    public static int lengthBytes(final int sizeClass)
    {
        return LENGTHS[sizeClass];
    }

    /**
     * Largest class whose blocks fit so many bytes.
     *
     * @param lengthBytes 64 or more.
     * @return the class.
     */
    public static int floorClass(final long lengthBytes)
    {
        if (lengthBytes >= MAX_BLOCK_BYTES)
        {
            return COUNT - 1;
        }
        final int sizeClass = classFor((int)lengthBytes);
        return LENGTHS[sizeClass] > lengthBytes ? sizeClass - 1 : sizeClass;
    }

    /**
     * Smallest class that holds so many bytes.
     *
     * @param lengthBytes 0 to {@link #MAX_BLOCK_BYTES}.
     * @return the class.
     */
    public static int classFor(final int lengthBytes)
    {
        return CLASS_OF_STEP[(lengthBytes + STEP_BYTES - 1) / STEP_BYTES];
    }
}
