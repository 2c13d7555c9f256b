package io.verbena.memory;

import io.verbena.meta.MetaServer;
import io.verbena.meta.MetaServerConfiguration;
import io.verbena.meta.store.InMemoryMetaStore;
import io.verbena.raas.PeerAddress;
import io.verbena.rdma.soft.SoftFabric;
import io.verbena.rdma.soft.SoftFabricOptions;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.DeviceAddress;
import org.agrona.concurrent.Agent;
import org.agrona.concurrent.AgentRunner;
import org.agrona.concurrent.SleepingMillisIdleStrategy;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** The agents on the soft fabric, on threads of their own. */
@Timeout(60)
class MemoryNodeSystemTest
{
    private static final PeerAddress NOWHERE = new PeerAddress(new DeviceAddress(1, 2), 1, 0, 0);

    @TempDir
    private Path directory;

    private final Queue<Throwable> errors = new ConcurrentLinkedQueue<>();
    private SoftFabric fabric;

    @BeforeEach
    void openFabric()
    {
        fabric = SoftFabric.open(new SoftFabricOptions().directory(directory));
    }

    @AfterEach
    void closeFabric()
    {
        fabric.close();
    }

    @Test
    void shouldJoinAndLeaveNothingBehindWhenRunOnThreads() throws IOException
    {
        try (Device metaDevice = fabric.openDevice("meta"); Device memoryDevice = fabric.openDevice("memory"))
        {
            final MetaServer metaServer =
                MetaServer.open(metaDevice, new InMemoryMetaStore(), new MetaServerConfiguration());
            final MemoryNode memoryNode = MemoryNode.open(
                memoryDevice, metaServer.address(), new MemoryNodeConfiguration().regionLengthBytes(4 << 20));

            try (AgentRunner meta = runner(metaServer); AgentRunner memory = runner(memoryNode))
            {
                assertThat(meta.agent()).isSameAs(metaServer);
                await(memoryNode::isReady);
                assertThat(memoryNode.nodeId()).isPositive();
                assertThat(memoryNode.failure()).isEmpty();
                memoryNode.leave();
                await(() -> MemoryNodeState.LEFT == memoryNode.state());
                assertThat(memory.agent()).isSameAs(memoryNode);
            }
        }

        assertThat(errors).isEmpty();
        fabric.close();

        try (Stream<Path> files = Files.walk(directory).filter(Files::isRegularFile))
        {
            assertThat(files.filter((f) -> f.getFileName().toString().contains("region"))).isEmpty();
        }
    }

    @Test
    void shouldFailWithTheReasonWhenNoMetaServerAnswersInTime()
    {
        try (Device device = fabric.openDevice("memory");
            MemoryNode node = MemoryNode.open(
                device,
                NOWHERE,
                new MemoryNodeConfiguration().regionLengthBytes(1 << 20).callTimeoutNs(1_000_000)
                    .retryPauseNs(1_000_000).joinTimeoutNs(20_000_000)))
        {
            while (MemoryNodeState.JOINING == node.state())
            {
                node.doWork();
            }

            assertThat(node.state()).isEqualTo(MemoryNodeState.FAILED);
            assertThat(node.failure()).contains("did not join within 20 ms");
            node.doWork();
        }
    }

    @Test
    void shouldNameBothSizesWhenMemoryIsTooSmall()
    {
        final long lengthBytes = 100L << 30;

        try (Device device = fabric.openDevice("memory"))
        {
            assertThatThrownBy(() -> MemoryNode.open(
                device, NOWHERE, new MemoryNodeConfiguration().regionLengthBytes(lengthBytes)))
                .isInstanceOf(MemoryNodeException.class)
                .hasMessageContaining(Long.toString(lengthBytes))
                .hasMessageContaining(directory.toString())
                .message().doesNotContain("\n");
        }
    }

    @Test
    void shouldRefuseSizesWhenOutOfRange()
    {
        try (Device device = fabric.openDevice("memory"))
        {
            for (final long lengthBytes : new long[]{Long.MIN_VALUE, 0, 4096 + (256 << 10) - 1, (128L << 30) + 1})
            {
                assertThatThrownBy(() -> MemoryNode.open(
                    device, NOWHERE, new MemoryNodeConfiguration().regionLengthBytes(lengthBytes)))
                    .isInstanceOf(MemoryNodeException.class)
                    .hasMessageContaining("regionLengthBytes=" + lengthBytes);
            }

            for (final int chunkLengthBytes : new int[]{-1, 0, 1 << 15, 100_000, 1 << 21})
            {
                assertThatThrownBy(() -> MemoryNode.open(
                    device, NOWHERE, new MemoryNodeConfiguration().chunkLengthBytes(chunkLengthBytes)))
                    .isInstanceOf(MemoryNodeException.class)
                    .hasMessageContaining("chunkLengthBytes=" + chunkLengthBytes);
            }
        }
    }

    private AgentRunner runner(final Agent agent)
    {
        final AgentRunner runner = new AgentRunner(new SleepingMillisIdleStrategy(1), errors::add, null, agent);
        AgentRunner.startOnThread(runner);
        return runner;
    }

    private static void await(final BooleanSupplier condition)
    {
        while (!condition.getAsBoolean())
        {
            LockSupport.parkNanos(1_000_000);
        }
    }
}
