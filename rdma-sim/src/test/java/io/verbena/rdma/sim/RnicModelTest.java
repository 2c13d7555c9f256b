package io.verbena.rdma.sim;

import io.verbena.rdma.sim.device.SimDevice;
import io.verbena.rdma.sim.device.SimFabric;
import io.verbena.rdma.sim.schedule.RnicModel;
import io.verbena.rdma.sim.schedule.SimFabricOptions;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.CompletionQueue;
import io.verbena.rdma.verbs.ConnectionAttempt;
import io.verbena.rdma.verbs.ConnectionListener;
import io.verbena.rdma.verbs.ConnectionRequest;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.ProtectionDomain;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.QueuePairCapabilities;
import io.verbena.rdma.verbs.SendFlags;
import io.verbena.rdma.verbs.WorkCompletionStatus;
import io.verbena.rdma.verbs.WorkCompletions;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Properties;
import java.util.function.ObjLongConsumer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Each value of the model is read, checked, and costs what it says. */
class RnicModelTest
{
    private static final QueuePairCapabilities CAPABILITIES = new QueuePairCapabilities(1024, 1, 0, 16);
    private static final byte[] NOTHING = {};

    static Properties properties()
    {
        try (InputStream file = RnicModel.class.getResourceAsStream(RnicModel.CONNECTX3_ROCE + ".properties"))
        {
            final Properties properties = new Properties();
            properties.load(file);
            return properties;
        }
        catch (final IOException ex)
        {
            throw new UncheckedIOException(ex);
        }
    }

    @Test
    void shouldReadTheModelThatComesAlong()
    {
        final RnicModel model = RnicModel.load(RnicModel.CONNECTX3_ROCE);
        assertThat(model).isEqualTo(RnicModel.of(properties()));
        assertThat(model.qpContextCacheEntries()).isEqualTo(400);
        assertThat(model.linkGbps()).isEqualTo(40);
    }

    @Test
    void shouldRefuseModelsWithMissingUnknownOrBadValues()
    {
        assertThatThrownBy(() -> RnicModel.load("none")).hasMessageContaining("none");
        for (final String name : properties().stringPropertyNames())
        {
            final Properties missing = properties();
            missing.remove(name);
            assertThatThrownBy(() -> RnicModel.of(missing)).as(name).hasMessageContaining(name);
            final Properties zero = properties();
            zero.setProperty(name, "0");
            assertThatThrownBy(() -> RnicModel.of(zero)).as(name).hasMessageContaining(name).hasMessageContaining("0");
        }
        final Properties unknown = properties();
        unknown.setProperty("colour", "1");
        assertThatThrownBy(() -> RnicModel.of(unknown)).hasMessageContaining("colour");
    }

    /** Runs requests on one connection, posted with one doorbell. @return virtual time until all are complete. */
    private static long timeNs(final Properties properties, final int count, final ObjLongConsumer<Verbs> request)
    {
        try (SimWorld world =
            new SimWorld(1, SimFabricOptions.calm().rnicModel(RnicModel.of(properties))))
        {
            final Verbs verbs = new Verbs(
                world.fabric(), world.addNode("from").device(), world.addNode("to").device());
            final long startNs = world.clock().nanoTime();
            verbs.queuePair.begin();
            for (int i = 0; i < count; i++)
            {
                request.accept(verbs, i);
            }
            verbs.queuePair.complete();
            final int[] done = new int[1];
            world.runUntil(() -> (done[0] += verbs.poll()) == count, 1_000_000);
            return world.clock().nanoTime() - startNs;
        }
    }

    @Test
    void shouldTakeTheSumOfItsPartsForOneSmallRead()
    {
        final long elapsedNs = timeNs(properties(), 1, (verbs, i) -> verbs.read(8));
        // Doorbell, DMA read, two contexts, a work request at each end, two packets, two wires, link both ways, DMA.
        final long partsNs = 40 + 550 + 550 + 100 + 18 + 300 + 550 + 100 + 550 + 80 + 20 + 300 + 20 + 80 + 200;
        assertThat(elapsedNs).isBetween(partsNs - 40, partsNs + 60);
    }

    @Test
    void shouldExecuteOneAtomicAfterTheOther()
    {
        final int count = 500;
        final long elapsedNs = timeNs(properties(), count, (verbs, i) -> verbs.add());
        assertThat(elapsedNs).isBetween(count * 400L, count * 400L + 10_000);
        final Properties faster = properties();
        faster.setProperty("atomic_ns", "10");
        assertThat(timeNs(faster, count, (verbs, i) -> verbs.add())).isLessThan(elapsedNs / 2);
    }

    @Test
    void shouldFillTheLinkWithLargeReadsAndWrites()
    {
        final int bytes = 1 << 16;
        final int count = 40;
        // 64 packets of 1,118 bytes at 5 bytes a nanosecond.
        final long wireNs = count * 64L * 1_118 / 5;
        assertThat(timeNs(properties(), count, (verbs, i) -> verbs.read(bytes))).isBetween(wireNs, wireNs + 10_000);
        assertThat(timeNs(properties(), count, (verbs, i) -> verbs.write(bytes))).isBetween(wireNs, wireNs + 30_000);
    }

    /** A connection between two devices, and memory at both. */
    private static final class Verbs
    {
        private final QueuePair queuePair;
        private final CompletionQueue completions;
        private final WorkCompletions polled = new WorkCompletions(16);
        private final MemoryRegion local;
        private final MemoryRegion remote;

        private Verbs(final SimFabric fabric, final SimDevice from, final SimDevice to)
        {
            final ProtectionDomain domain = from.allocateProtectionDomain();
            final ProtectionDomain targetDomain = to.allocateProtectionDomain();
            final CompletionQueue targetCompletions = to.createCompletionQueue(1);
            completions = from.createCompletionQueue(1024);
            local = domain.allocateRegistered(1 << 16, AccessFlags.ALL_REMOTE);
            remote = targetDomain.allocateRegistered(1 << 16, AccessFlags.ALL_REMOTE);
            queuePair = domain.createQueuePair(completions, completions, CAPABILITIES);
            try (ConnectionListener listener = to.listen(1))
            {
                final ConnectionAttempt attempt = from.connect(queuePair, to.address(), 1, NOTHING, Long.MAX_VALUE / 2);
                ConnectionRequest request = listener.poll();
                while (request == null)
                {
                    fabric.step();
                    request = listener.poll();
                }
                request.accept(targetDomain.createQueuePair(targetCompletions, targetCompletions, CAPABILITIES),
                    AccessFlags.ALL_REMOTE, NOTHING);
                while (attempt.poll() == ConnectionAttempt.State.PENDING)
                {
                    fabric.step();
                }
            }
        }

        private int poll()
        {
            final int count = completions.poll(polled);
            for (int i = 0; i < count; i++)
            {
                assertThat(polled.status(i)).isEqualTo(WorkCompletionStatus.SUCCESS);
            }
            return count;
        }

        private void read(final int bytes)
        {
            queuePair.read(1, SendFlags.SIGNALED, local.address(), bytes, local.localKey(), remote.address(),
                remote.remoteKey());
        }

        private void write(final int bytes)
        {
            queuePair.write(1, SendFlags.SIGNALED, local.address(), bytes, local.localKey(), remote.address(),
                remote.remoteKey());
        }

        private void add()
        {
            queuePair.fetchAdd(1, SendFlags.SIGNALED, local.address(), local.localKey(), remote.address(),
                remote.remoteKey(), 1);
        }
    }
}
