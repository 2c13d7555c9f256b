package io.verbena.rdma.spi;

import io.verbena.rdma.verbs.ProtectionDomain;
import io.verbena.rdma.verbs.RdmaException;

import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.function.IntSupplier;
import java.util.function.LongConsumer;

/**
 * A device's memory windows by key. A key is a mark (bit 31, which no region's key has), the window's index (15 bits),
 * the index's generation (8 bits) and the user's part (8 bits). Like {@link KeyTable}, {@link #find} may be called by
 * any thread, and a requester that marks itself before it looks meets safely with whoever takes a binding away and then
 * waits for marks.
 */
public final class WindowTable
{
    /** Most windows open at once. */
    public static final int MAX_WINDOWS = (1 << 15) - 1;

    private static final int MARK = 1 << 31;
    private static final int INDEX_SHIFT = 16;
    private static final int GENERATION_SHIFT = 8;

    private static final int MIN_SLOTS = 16;
    /** Of a table with keys that are not to be guessed: 12 bits of index. */
    private static final int MIN_RANDOM_SLOTS = 1 << 12;

    private final IntSupplier random;
    private volatile BoundWindow[] windows;
    private byte[] generations;
    private int lastIndex;
    private int openCount;

    /** Keys follow each other, for peers that share memory with this device anyway. */
    public WindowTable()
    {
        this(null);
    }

    /**
     * @param random unpredictable, where keys come from, 20 bits of each at least; called by {@link #add}. Null when
     *               they may follow each other.
     */
    public WindowTable(final IntSupplier random)
    {
        this.random = random;
        final int slots = random == null ? MIN_SLOTS : MIN_RANDOM_SLOTS;
        windows = new BoundWindow[slots];
        generations = new byte[slots];
    }

    /**
     * Whether a key is a window's at all, known or not.
     *
     * @param key of a region or window.
     * @return whether it is.
     */
    public static boolean isWindowKey(final int key)
    {
        return key < 0;
    }

    /**
     * Looks a key up.
     *
     * @param key of a window.
     * @return the window, bound under this very key; null otherwise.
     */
    public BoundWindow find(final int key)
    {
        final BoundWindow window = isWindowKey(key) ? at((key & ~MARK) >>> INDEX_SHIFT) : null;
        return window != null && window.isBoundAs(key) ? window : null;
    }

    /**
     * Makes a window, not bound.
     *
     * @param protectionDomain it belongs to.
     * @param owner            called when it is closed.
     * @return the window.
     */
    public synchronized BoundWindow add(final ProtectionDomain protectionDomain, final BoundWindow.Owner owner)
    {
        final int index = nextFreeIndex();
        generations[index] = random == null ? (byte)(generations[index] + 1) : (byte)random.getAsInt();
        final int generation = generations[index] & 0xFF;
        final BoundWindow window = new BoundWindow(
            MARK | index << INDEX_SHIFT | generation << GENERATION_SHIFT, protectionDomain, owner);
        final BoundWindow[] copy = windows.clone();
        copy[index] = window;
        windows = copy;
        openCount++;
        return window;
    }

    /**
     * Takes a window's binding away and makes it unknown; without effect the second time.
     *
     * @param window to remove.
     */
    public synchronized void remove(final BoundWindow window)
    {
        final int index = (window.remoteKey() & ~MARK) >>> INDEX_SHIFT;
        if (windows[index] == window)
        {
            window.unbind();
            final BoundWindow[] copy = windows.clone();
            copy[index] = null;
            windows = copy;
            openCount--;
        }
    }

    /**
     * Takes every binding made through a queue pair away, as when that is destroyed or reset.
     *
     * @param queuePairNumber of the queue pair.
     */
    public synchronized void unbindAll(final int queuePairNumber)
    {
        for (final BoundWindow window : windows)
        {
            if (window != null && window.isBoundTo(queuePairNumber))
            {
                window.unbind();
            }
        }
    }

    /** Takes every binding away, as when the device is freed with all its memory. */
    public synchronized void unbindAll()
    {
        for (final BoundWindow window : windows)
        {
            if (window != null)
            {
                window.unbind();
            }
        }
    }

    /** @return the windows open now. */
    public List<BoundWindow> openWindows()
    {
        return Arrays.stream(windows).filter(Objects::nonNull).toList();
    }

    /**
     * Whether a window is of this table and not closed.
     *
     * @param window any.
     * @return whether it is.
     */
    public boolean contains(final BoundWindow window)
    {
        return at((window.remoteKey() & ~MARK) >>> INDEX_SHIFT) == window;
    }

    /**
     * Tells what decides which windows give rights to what, and which keys will be given out next.
     *
     * @param words takes it.
     */
    public synchronized void describe(final LongConsumer words)
    {
        words.accept(lastIndex);
        for (int i = 0; i < windows.length; i++)
        {
            if (generations[i] != 0)
            {
                words.accept((long)i << 32 | generations[i]);
            }
            if (windows[i] != null)
            {
                windows[i].describe(words);
            }
        }
    }

    private BoundWindow at(final int index)
    {
        final BoundWindow[] table = windows;
        return index < table.length ? table[index] : null;
    }

    private int nextFreeIndex()
    {
        if (openCount >= windows.length / 2)
        {
            if (openCount >= MAX_WINDOWS)
            {
                throw new RdmaException("too many memory windows: open=" + openCount + ", close some first");
            }
            final int capacity = Math.min(windows.length * 2, MAX_WINDOWS + 1);
            generations = Arrays.copyOf(generations, capacity);
            windows = Arrays.copyOf(windows, capacity);
        }
        // Round robin, so that an index rests as long as possible; or from anywhere.
        int index = random == null ? lastIndex : random.getAsInt() & windows.length - 1;
        do
        {
            index = index + 1 < windows.length ? index + 1 : 1;
        }
        while (windows[index] != null);
        lastIndex = index;
        return index;
    }
}
