package io.verbena.rdma.soft;

import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/** Settings of a {@link SoftFabric}. Not thread-safe; read once by {@link SoftFabric#open}. */
public final class SoftFabricOptions
{
    private Path directory = Path.of("/dev/shm", "verbena-" + System.getProperty("user.name"));
    private long rnrTimeoutNs = TimeUnit.SECONDS.toNanos(2);

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
}
