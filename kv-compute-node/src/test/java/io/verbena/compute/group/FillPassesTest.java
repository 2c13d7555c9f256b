package io.verbena.compute.group;

import io.verbena.compute.MemoryRig;
import io.verbena.compute.memory.MemoryLink;
import io.verbena.protocol.message.ControlException;
import io.verbena.protocol.message.ControlStatus;
import io.verbena.protocol.view.ViewAttempt;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** What is waited for before a memory node is filled, and how that ends without it. */
class FillPassesTest
{
    private static final int GROUP = 9;
    private static final ViewAttempt ATTEMPT = new ViewAttempt(GROUP, 4, 1);
    private static final long MS = 1_000_000;
    private static final long STEP_NS = MS / 2;
    private static final long PATIENCE_NS = MemberFill.PATIENCE_NS;

    private final MemoryRig primary = new MemoryRig();
    private final MemoryRig another = new MemoryRig(MemoryRig.MEMORY_NODE + 1);
    private ControlStatus answered = ControlStatus.OK;
    private int asked;
    private FillPasses passes;
    private long beganNs;

    @AfterEach
    void close()
    {
        passes.close();
        another.close();
        primary.close();
    }

    private void begin()
    {
        primary.groupIndex(0, GROUP, 2, 1);
        another.answer("enterLease", (_) ->
        {
            asked++;
            if (ControlStatus.OK != answered)
            {
                throw new ControlException(answered, "as the test has it");
            }
            return null;
        });
        final MemoryLink source = primary.reach();
        final MemoryLink target = another.reach();
        beganNs = another.meta.world.clock().nanoTime();
        passes = new FillPasses(another.parts, ATTEMPT, source, target, source.port(), target.port(),
            new Pace(1L << 30, beganNs), 1, beganNs);
    }

    private void runFor(final long durationNs)
    {
        final long endNs = another.meta.world.clock().nanoTime() + durationNs;
        while (another.meta.world.clock().nanoTime() < endNs && FillPasses.Outcome.GOES_ON == passes.outcome())
        {
            passes.poll(another.meta.world.clock().nanoTime());
            primary.meta.runFor(STEP_NS);
            another.meta.runFor(STEP_NS);
        }
    }

    /** The meta server may say it later to the memory node than to this one. */
    @Test
    void shouldWaitForAMemoryNodeThatHasNotHeardOfIt()
    {
        answered = ControlStatus.UNAVAILABLE;
        begin();
        runFor(PATIENCE_NS * 9 / 10);
        assertThat(passes.outcome()).isEqualTo(FillPasses.Outcome.GOES_ON);
        assertThat(asked).as("again and again").isGreaterThan(20);
        assertThat(passes.progress()).isNull();
        answered = ControlStatus.OK;
        runFor(20 * MS);
        assertThat(passes.nextAtNs()).as("it compares").isNotEqualTo(Long.MAX_VALUE);
        assertThat(passes.progress()).isNotNull();
    }

    @Test
    void shouldNotWaitForEver()
    {
        answered = ControlStatus.UNAVAILABLE;
        begin();
        runFor(2 * PATIENCE_NS);
        assertThat(passes.outcome()).isEqualTo(FillPasses.Outcome.REFUSED);
        assertThat(passes.why()).contains("not ready in time", "as the test has it");
        assertThat(another.meta.world.clock().nanoTime() - beganNs).isBetween(PATIENCE_NS, PATIENCE_NS + 100 * MS);
    }

    @Test
    void shouldRefuseAtOnceWhoCannotComeIn()
    {
        answered = ControlStatus.EXHAUSTED;
        begin();
        runFor(PATIENCE_NS);
        assertThat(passes.outcome()).isEqualTo(FillPasses.Outcome.REFUSED);
        assertThat(passes.why()).contains("as the test has it");
        assertThat(asked).isEqualTo(1);
    }

    @Test
    void shouldTryAgainAfterAnotherFailure()
    {
        answered = ControlStatus.UNKNOWN_NODE;
        begin();
        runFor(PATIENCE_NS);
        assertThat(passes.outcome()).isEqualTo(FillPasses.Outcome.BROKEN);
    }

    @Test
    void shouldStopWithoutALease()
    {
        begin();
        another.loseLease();
        runFor(STEP_NS);
        assertThat(passes.outcome()).isEqualTo(FillPasses.Outcome.BROKEN);
        assertThat(asked).isZero();
    }
}
