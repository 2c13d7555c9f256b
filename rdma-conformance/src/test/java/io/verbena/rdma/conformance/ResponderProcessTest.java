package io.verbena.rdma.conformance;

import io.verbena.rdma.conformance.RuleResult.Verdict;
import io.verbena.rdma.conformance.remote.RegionMemory;
import io.verbena.rdma.conformance.remote.ResponderProcess;
import io.verbena.rdma.fabric.Fabrics;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.Fabric;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.ProtectionDomain;
import io.verbena.rdma.verbs.RdmaException;

import org.agrona.concurrent.SystemNanoClock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.io.UncheckedIOException;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** The channel to a responder in a process of its own. */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
class ResponderProcessTest
{
    private static final RealTimeRig.Pace PACE = new RealTimeRig.Pace(1_000_000, 5_000_000_000L, false);
    private final String fabricName = "soft:" + TestDirectories.next();

    /** Both ends over there: everything the rules do goes through the channel, and must come out the same. */
    @Test
    void shouldChangeNoRuleThatItCarries()
    {
        final ResponderHost host = new ResponderHost();
        final List<RuleResult> results;
        try (ConformancePath path = new ConformancePath("soft, both ends in another process", AllowList.NOTHING,
            () -> new RealTimeRig(host.open(fabricName), PACE), host::close))
        {
            results = ConformanceRun.run(path, Pattern.compile("^(Data|Order|Protection)\\."),
                SystemNanoClock.INSTANCE::nanoTime, result -> { });
        }
        assertThat(results).hasSizeGreaterThan(50).allSatisfy(
            result -> assertThat(result.verdict()).as(result.toString()).isEqualTo(Verdict.PASS));
    }

    @Test
    void shouldCarryMemoryErrorsAndIdentity()
    {
        try (ResponderProcess process = new ResponderProcess();
            Fabric fabric = process.open(fabricName);
            Device device = fabric.openDevice("responder");
            ProtectionDomain domain = device.allocateProtectionDomain();
            MemoryRegion region = domain.allocateRegistered(4096, AccessFlags.ALL_REMOTE))
        {
            RegionMemory.putLong(region, 8, 0x1122_3344_5566_7788L);
            assertThat(RegionMemory.getLong(region, 8)).isEqualTo(0x1122_3344_5566_7788L);
            assertThat(region.lengthBytes()).isEqualTo(4096);
            assertThat(device.attributes().provider()).isEqualTo("soft");
            assertThat(device).isEqualTo(device).isNotEqualTo(domain);
            assertThatThrownBy(() -> domain.allocateRegistered(0, 0)).isInstanceOf(RdmaException.class);
            assertThatThrownBy(() -> region.segment()).isInstanceOf(IllegalStateException.class);
        }
    }

    @Test
    void shouldSayThatTheProcessIsGone()
    {
        try (ResponderProcess process = new ResponderProcess())
        {
            final Fabric fabric = process.open(fabricName);
            process.handle().destroyForcibly();
            process.handle().onExit().orTimeout(30, TimeUnit.SECONDS).join();
            assertThatThrownBy(() -> fabric.openDevice("responder"))
                .isInstanceOf(UncheckedIOException.class).hasMessageContaining("does not answer");
        }
        // The next to come removes what the killed process left.
        Fabrics.open(fabricName).close();
    }

    @Test
    void shouldEndTheProcessWhenClosed()
    {
        final ResponderProcess process = new ResponderProcess();
        final ProcessHandle handle = process.handle();
        process.open(fabricName).close();
        process.close();
        assertThat(handle.onExit().orTimeout(30, TimeUnit.SECONDS).join().isAlive()).isFalse();
    }
}
