package io.verbena.rdma.soft;

import io.verbena.rdma.soft.shared.FabricDirectory;
import io.verbena.rdma.soft.shared.SharedMemoryFile;
import io.verbena.rdma.verbs.CompletionQueue;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.Endpoint;
import io.verbena.rdma.verbs.ProtectionDomain;
import io.verbena.rdma.verbs.QueuePair;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;

/** An interrupted thread makes what it asks for, stays interrupted, and leaves the device as good as before. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class SoftInterruptTest
{
    /** More than a queue pair table grows by at once. */
    private static final int QUEUE_PAIRS = 20;
    /** Needs more than what is left of the blocks allocated last. */
    private static final int COMPLETIONS = 1 << 12;
    private static final int REGION_BYTES = 1 << 16;

    private static void makeAndClose(final Device device, final ProtectionDomain domain)
    {
        final List<QueuePair> queuePairs = new ArrayList<>();
        final CompletionQueue completions = device.createCompletionQueue(COMPLETIONS);
        for (int i = 0; i < QUEUE_PAIRS; i++)
        {
            queuePairs.add(domain.createQueuePair(completions, completions, Endpoint.CAPABILITIES));
        }
        queuePairs.forEach(QueuePair::close);
        completions.close();
    }

    @Test
    void shouldMakeQueuesOnNewBlocksWhenInterruptedAndAfterwards()
    {
        try (SoftFabric fabric = SoftFabric.open(new SoftFabricOptions().directory(TestDirectories.next())))
        {
            Thread.currentThread().interrupt();
            final Device device = fabric.openDevice("interrupted");
            final ProtectionDomain domain = device.allocateProtectionDomain();
            makeAndClose(device, domain);
            assertThat(Thread.interrupted()).isTrue();
            final CompletionQueue deeper = device.createCompletionQueue(COMPLETIONS * 2);
            deeper.close();
            makeAndClose(device, domain);
            domain.close();
            device.close();
        }
        finally
        {
            // Whatever fails above: the next test is not meant.
            Thread.interrupted();
        }
    }

    @Test
    void shouldAllocateAndMapMemoryWhenInterrupted()
    {
        final Path directory = TestDirectories.next();
        try (FabricDirectory files = FabricDirectory.open(directory, false))
        {
            Thread.currentThread().interrupt();
            try (SharedMemoryFile own = files.allocate(REGION_BYTES);
                SharedMemoryFile mapped = SharedMemoryFile.ofPeer(files.regionFile(files.ownerId(), own.number())))
            {
                assertThat(Thread.interrupted()).isTrue();
                own.segment().set(ValueLayout.JAVA_BYTE, REGION_BYTES - 1, (byte)7);
                assertThat(mapped.segment().get(ValueLayout.JAVA_BYTE, REGION_BYTES - 1)).isEqualTo((byte)7);
            }
            catch (final IOException ex)
            {
                throw new UncheckedIOException(ex);
            }
        }
        finally
        {
            Thread.interrupted();
        }
    }
}
