package io.verbena.rdma.soft;

import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/** Settings of a {@link SoftFabric}. Not thread-safe; read once by {@link SoftFabric#open}. */
public final class SoftFabricOptions
{
    private Path directory = Path.of("/dev/shm", "verbena-" + System.getProperty("user.name"));
    private long rnrTimeoutNs = TimeUnit.SECONDS.toNanos(2);
    private long fenceTimeoutNs = TimeUnit.SECONDS.toNanos(60);
    private int maxDcContexts = 64;
    private boolean mayBeKilled;
    private boolean hugePages;

    /** @return where registered memory lives. */
    public Path directory()
    {
        return directory;
    }

    /**
     * @param directory where registered memory lives, created with mode 0700 when absent; on a memory file system.
     *                  Default {@code /dev/shm/verbena-USER}. Only fabrics with the same directory can ever meet.
     * @return this.
     */
    public SoftFabricOptions directory(final Path directory)
    {
        this.directory = directory;
        return this;
    }

    /** @return how long a request waits for the peer to post a receive. */
    public long rnrTimeoutNs()
    {
        return rnrTimeoutNs;
    }

    /**
     * @param rnrTimeoutNs how long a SEND or WRITE_WITH_IMM waits for the peer to post a receive before it fails with
     *                     RNR_RETRY_EXC_ERR, 0 or more; default 2 s.
     * @return this.
     */
    public SoftFabricOptions rnrTimeoutNs(final long rnrTimeoutNs)
    {
        this.rnrTimeoutNs = rnrTimeoutNs;
        return this;
    }

    /** @return DC connections that a device serves at once. */
    public int maxDcContexts()
    {
        return maxDcContexts;
    }

    /**
     * @param maxDcContexts DC connections that a device serves at once, 1 to 128, default 64; initiators beyond wait
     *                      until one has nothing under way, within their retry time.
     * @return this.
     */
    public SoftFabricOptions maxDcContexts(final int maxDcContexts)
    {
        this.maxDcContexts = maxDcContexts;
        return this;
    }

    /** @return how long a close waits for a requester that is inside the memory being closed. */
    public long fenceTimeoutNs()
    {
        return fenceTimeoutNs;
    }

    /**
     * @param fenceTimeoutNs how long closing a region, a queue pair or a listener waits for a requester that is inside,
     *                       more than 0; default 60 s. Afterwards a requester whose process opted in with
     *                       {@link #mayBeKilled} is killed, and otherwise the close throws and nothing is freed.
     * @return this.
     */
    public SoftFabricOptions fenceTimeoutNs(final long fenceTimeoutNs)
    {
        this.fenceTimeoutNs = fenceTimeoutNs;
        return this;
    }

    /** @return whether registered memory asks for huge pages. */
    public boolean hugePages()
    {
        return hugePages;
    }

    /**
     * @param hugePages whether memory that is allocated asks for huge pages, default false. They are given when the
     *                  directory is on a tmpfs mounted with {@code huge=advise} or more; otherwise opening warns in one
     *                  line, and pages are small. {@link io.verbena.rdma.verbs.Device#memoryPages} says which.
     * @return this.
     */
    public SoftFabricOptions hugePages(final boolean hugePages)
    {
        this.hugePages = hugePages;
        return this;
    }

    /** @return whether peers of the same user may kill this process when it delays their closing. */
    public boolean mayBeKilled()
    {
        return mayBeKilled;
    }

    /**
     * @param mayBeKilled whether this process is a node that peers of the same user may end (SIGKILL) when one of its
     *                    threads stays inside memory that they are closing beyond their deadline, as when the process
     *                    is stopped (SIGSTOP); default false. Recorded in the control files of its devices.
     * @return this.
     */
    public SoftFabricOptions mayBeKilled(final boolean mayBeKilled)
    {
        this.mayBeKilled = mayBeKilled;
        return this;
    }
}
