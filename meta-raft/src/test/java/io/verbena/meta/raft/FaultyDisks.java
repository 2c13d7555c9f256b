package io.verbena.meta.raft;

import io.verbena.test.Mutation;
import org.apache.ratis.server.raftlog.segmented.SegmentedRaftLogOutputStream;

import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;

/**
 * Disks of members in this process that fail or are slow, below the log: what the log's library would hear of the
 * operating system. A member is known by the name of its log's thread. One set in a process, and one test at a time.
 */
public final class FaultyDisks implements AutoCloseable
{
    private static final Map<String, String> SYNC_FAILURES = new ConcurrentHashMap<>();
    private static final Map<String, String> OPEN_FAILURES = new ConcurrentHashMap<>();
    private static final Map<String, CountDownLatch> SLOW = new ConcurrentHashMap<>();
    private static final Map<String, CountDownLatch> WAITING = new ConcurrentHashMap<>();
    private final Mutation.Opened opened = Mutation.callingFirst(
        SegmentedRaftLogOutputStream.class, "flush", FaultyDisks.class, "onSync").and(Mutation.callingFirst(
            Mutation.type("org.apache.ratis.server.raftlog.segmented.BufferedWriteChannel"), "open", FaultyDisks.class,
            "onOpen")).open();

    /** The next sync of a member's log fails, and no later one. */
    void failSync(final int member, final String why)
    {
        SYNC_FAILURES.put(GroupOptions.name(member), why);
    }

    /** The next file that a member's log opens fails, and no later one. */
    void failOpen(final int member, final String why)
    {
        OPEN_FAILURES.put(GroupOptions.name(member), why);
    }

    /** Syncs of a member's log do not end until {@link #goOn}. */
    void hold(final int member)
    {
        WAITING.put(GroupOptions.name(member), new CountDownLatch(1));
        SLOW.put(GroupOptions.name(member), new CountDownLatch(1));
    }

    /** Returns when a sync is held. */
    void awaitHeld(final int member) throws InterruptedException
    {
        WAITING.get(GroupOptions.name(member)).await();
    }

    void goOn(final int member)
    {
        SLOW.remove(GroupOptions.name(member)).countDown();
    }

    private static String member()
    {
        final String thread = Thread.currentThread().getName();
        return thread.substring(0, Math.max(0, thread.indexOf('@')));
    }

    /** In the place of a sync. @return false: it goes on. */
    public static boolean onSync(final SegmentedRaftLogOutputStream log) throws IOException
    {
        final String member = member();
        final CountDownLatch slow = SLOW.get(member);
        if (null != slow)
        {
            WAITING.get(member).countDown();
            try
            {
                slow.await();
            }
            catch (final InterruptedException ex)
            {
                Thread.currentThread().interrupt();
            }
        }
        fail(SYNC_FAILURES.remove(member));
        return false;
    }

    /** In the place of opening a file. @return false: it goes on. */
    public static boolean onOpen(final File file, final boolean appends, final ByteBuffer buffer) throws IOException
    {
        fail(OPEN_FAILURES.remove(member()));
        return false;
    }

    private static void fail(final String why) throws IOException
    {
        if (null != why)
        {
            throw new IOException(why);
        }
    }

    @Override
    public void close()
    {
        SYNC_FAILURES.clear();
        OPEN_FAILURES.clear();
        SLOW.values().forEach(CountDownLatch::countDown);
        SLOW.clear();
        opened.close();
    }
}
