package io.verbena.server;

import io.verbena.client.KvClient;
import io.verbena.client.KvClientOptions;
import io.verbena.client.TableOptions;
import io.verbena.client.routing.RemoteKvClient;
import io.verbena.compute.ComputeNodeConfiguration;
import io.verbena.meta.MetaServerConfiguration;
import io.verbena.protocol.bootstrap.BootstrapAnswer;
import io.verbena.protocol.bootstrap.BootstrapClient;
import io.verbena.protocol.bootstrap.BootstrapLocator;
import io.verbena.protocol.bootstrap.ClusterAddress;
import io.verbena.protocol.bootstrap.ClusterToken;
import io.verbena.protocol.bootstrap.MetaServerLocator;
import io.verbena.rdma.fabric.Fabrics;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.Fabric;
import io.verbena.resp.RespConfiguration;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What the thread of a compute node allocates for a command of Redis' protocol, from the socket to the memory node and
 * back, in pipelines of 64, in steady state: what the compiler leaves out after some thousand commands does not count.
 */
@Timeout(120)
class RespRoleAllocationTest
{
    private static final long STEP_NS = TimeUnit.SECONDS.toNanos(40);
    private static final String LOOPBACK = "127.0.0.1";
    private static final int PIPELINE = 64;
    private static final int WARM_UP = 60;
    private static final int SETS_BEFORE = 500;
    private static final int SERIES = 240;

    @TempDir
    Path directory;
    private final List<RoleRunner> runners = new ArrayList<>();
    private Fabric fabric;
    private ComputeNodeRole compute;

    @BeforeEach
    void open()
    {
        final String fabricName = "soft:" + directory.resolve("fabric");
        fabric = Fabrics.open(fabricName);
        final ClusterToken token = ClusterToken.readOrCreate(directory.resolve("token"));
        final MetaServerRole meta = MetaServerRole.open(fabric, fabricName, new ClusterAddress(LOOPBACK, 0), token,
            directory.resolve("data"), true, new MetaServerConfiguration().leaseNs(TimeUnit.SECONDS.toNanos(60)));
        start(meta);
        final BootstrapAnswer answer = BootstrapClient.ask(meta.address(), token, 10_000);
        final MetaServerLocator locator = new BootstrapLocator(meta.address(), token, answer);
        start(MemoryNodeRole.open(fabric, locator, 32 << 20));
        compute = ComputeNodeRole.open(fabric, locator, null, new ComputeNodeConfiguration(),
            ComputeNodeRole.DEFAULT_MAX_CLIENTS, new RespConfiguration().port(0));
        start(compute);
        final Device device = fabric.openDevice("client");
        try (KvClient client = RemoteKvClient.open(device, locator, new KvClientOptions(), device::close))
        {
            client.createTable("default", new TableOptions(1_000));
        }
    }

    private void start(final Role role)
    {
        final RoleRunner runner = RoleRunner.start(role, false);
        runners.add(runner);
        assertThat(runner.awaitReady(STEP_NS)).as(runner.failure()).isTrue();
    }

    @AfterEach
    void close()
    {
        runners.reversed().forEach((runner) ->
        {
            runner.stop();
            assertThat(runner.awaitEnd(STEP_NS)).isTrue();
            assertThat(runner.failure()).isEmpty();
        });
        fabric.close();
    }

    @Test
    void shouldAllocateNothingForACommand() throws IOException
    {
        final String value = "v".repeat(100);
        final StringBuilder gets = new StringBuilder();
        final StringBuilder sets = new StringBuilder();
        final StringBuilder counts = new StringBuilder();
        for (int i = 0; i < PIPELINE; i++)
        {
            gets.append("*2\r\n$3\r\nGET\r\n$6\r\nkey:").append(10 + i).append("\r\n");
            sets.append("*3\r\n$3\r\nSET\r\n$6\r\nkey:").append(10 + i).append("\r\n$100\r\n").append(value)
                .append("\r\n");
            counts.append("*3\r\n$6\r\nINCRBY\r\n$6\r\nnum:").append(10 + i).append("\r\n$1\r\n0\r\n");
        }
        try (Socket socket = new Socket(LOOPBACK, compute.respPort()))
        {
            socket.setSoTimeout((int)TimeUnit.NANOSECONDS.toMillis(STEP_NS));
            socket.setTcpNoDelay(true);
            run(socket, bytes(sets), bytes("+OK\r\n".repeat(PIPELINE)), SETS_BEFORE);
            expectNoAllocation(socket, "GET", 5, gets, "$100\r\n" + value + "\r\n");
            expectNoAllocation(socket, "INCRBY", 5, counts, ":0\r\n");
            expectNoAllocation(socket, "SET", 5, sets, "+OK\r\n");
        }
    }

    /**
     * The series with the least decides: in others the node takes figures, each second, or queues of the engine grow,
     * which is over some time. What a command allocates is in all of them. They are short, so that some of them are
     * between two of these also where other processes have most of the processor.
     */
    private void expectNoAllocation(
        final Socket socket, final String command, final int pipelines, final StringBuilder commands,
        final String reply) throws IOException
    {
        final byte[] sent = bytes(commands);
        final byte[] expected = bytes(reply.repeat(PIPELINE));
        run(socket, sent, expected, WARM_UP);
        final long[] bytes = new long[SERIES];
        for (int i = 0; i < SERIES; i++)
        {
            final long before = allocatedBytes();
            run(socket, sent, expected, pipelines);
            bytes[i] = allocatedBytes() - before;
        }
        assertThat(Arrays.stream(bytes).min().getAsLong())
            .as("bytes for %d of %s, in series: %s", pipelines * PIPELINE, command, Arrays.toString(bytes))
            .isLessThan(pipelines * PIPELINE);
    }

    private static byte[] bytes(final CharSequence text)
    {
        return text.toString().getBytes(StandardCharsets.US_ASCII);
    }

    private long allocatedBytes()
    {
        return ((Number)compute.health().get("allocated_bytes")).longValue();
    }

    private static void run(final Socket socket, final byte[] sent, final byte[] expected, final int pipelines)
        throws IOException
    {
        final OutputStream out = socket.getOutputStream();
        final InputStream in = socket.getInputStream();
        for (int i = 0; i < pipelines; i++)
        {
            out.write(sent);
            assertThat(in.readNBytes(expected.length)).isEqualTo(expected);
        }
    }
}
