package io.verbena.rdma.soft;

import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.ConnectionAttempt;
import io.verbena.rdma.verbs.ConnectionListener;
import io.verbena.rdma.verbs.ConnectionRequest;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.DeviceAddress;
import io.verbena.rdma.verbs.Endpoint;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/** Processes with the same fabric directory are different hosts when their network namespaces are different. */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
class SoftNamespaceTest
{
    private static final List<String> AS_ROOT = List.of("unshare", "--net");
    private static final List<String> AS_USER = List.of("unshare", "--net", "--map-root-user");

    private final Path directory = TestDirectories.next();
    private SoftFabric fabric;
    private Device device;
    private Endpoint here;
    private ConnectionListener listener;
    private Process child;

    @BeforeEach
    void setUp()
    {
        fabric = SoftFabric.open(new SoftFabricOptions().directory(directory));
        device = fabric.openDevice("parent");
        here = new Endpoint(device);
        listener = device.listen(SoftNamespaceChild.PORT);
    }

    @AfterEach
    void tearDown() throws InterruptedException
    {
        if (child != null)
        {
            child.destroyForcibly().waitFor();
        }
        listener.close();
        here.close();
        device.close();
        fabric.close();
        assertThat(directory).doesNotExist();
    }

    /** How a process gets a network namespace of its own here; empty where it may not. */
    private static List<String> ownNamespace() throws InterruptedException
    {
        for (final List<String> prefix : List.of(AS_ROOT, AS_USER))
        {
            final List<String> command = new ArrayList<>(prefix);
            command.add("true");
            try
            {
                final Process process = new ProcessBuilder(command).redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD).start();
                if (process.waitFor() == 0)
                {
                    return prefix;
                }
            }
            catch (final IOException ex)
            {
                return List.of();
            }
        }
        return List.of();
    }

    private void start(final List<String> prefix) throws IOException
    {
        final List<String> command = new ArrayList<>(prefix);
        command.addAll(SoftChild.java(SoftNamespaceChild.class));
        command.addAll(List.of(directory.toString(), Long.toHexString(device.address().gidLow())));
        child = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    }

    private void end() throws IOException, InterruptedException
    {
        child.outputWriter().close();
        assertThat(child.waitFor()).isZero();
    }

    private DeviceAddress address(final String interfaceId)
    {
        return new DeviceAddress(device.address().gidHigh(), Long.parseUnsignedLong(interfaceId, 16));
    }

    @Test
    void shouldNotReachEachOtherFromDifferentNetworkNamespaces() throws Exception
    {
        final List<String> prefix = ownNamespace();
        assumeTrue(!prefix.isEmpty(), "no network namespace may be made here: unshare --net is absent or refused");
        start(prefix);
        final String[] told = child.inputReader().readLine().split(" ");
        final ConnectionAttempt.State nobody =
            SoftNamespaceChild.connect(here, new DeviceAddress(device.address().gidHigh(), 0x7EAD_0BAD_0000_0001L));
        assertThat(nobody).isEqualTo(ConnectionAttempt.State.UNREACHABLE);
        assertThat(told[0]).isEqualTo(nobody.name());
        assertThat(listener.poll()).isNull();
        assertThat(SoftNamespaceChild.connect(here, address(told[1]))).isEqualTo(nobody);
        assertThat(((SoftDevice)device).host().usePeer(address(told[1]).gidLow())).isNull();
        end();
        assertThat(child.inputReader().readLine()).isNull();
    }

    /** The same process in the namespace of this one: otherwise the test above says nothing. */
    @Test
    void shouldReachEachOtherInOneNetworkNamespace() throws Exception
    {
        start(List.of());
        ConnectionRequest request = listener.poll();
        while (request == null)
        {
            assertThat(child.isAlive()).isTrue();
            Thread.onSpinWait();
            request = listener.poll();
        }
        request.accept(here.queuePair, AccessFlags.ALL_REMOTE, new byte[0]);
        final String[] told = child.inputReader().readLine().split(" ");
        assertThat(told[0]).isEqualTo(ConnectionAttempt.State.ESTABLISHED.name());
        final SoftPeer peer = ((SoftDevice)device).host().usePeer(address(told[1]).gidLow());
        assertThat(peer).isNotNull();
        peer.unuse();
        end();
    }
}
