package io.verbena.rdma.conformance;

import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicInteger;

/** Fabric directories of their own for tests; each is removed by the fabric that created it. */
final class TestDirectories
{
    private static final AtomicInteger LAST = new AtomicInteger();

    private TestDirectories()
    {
    }

    static Path next()
    {
        return Path.of("/dev/shm", "verbena-test-" + ProcessHandle.current().pid() + "-" + LAST.incrementAndGet());
    }
}
