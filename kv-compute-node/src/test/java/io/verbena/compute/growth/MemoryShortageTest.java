package io.verbena.compute.growth;

import io.verbena.compute.MemoryRig;
import io.verbena.table.allocation.EpochTracker;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class MemoryShortageTest
{
    private static final int NODE = 2;
    private static final long RETRY_NS = 5_000_000;
    private static final long NOW_NS = 1_000;

    private final MemoryRig rig = new MemoryRig();
    private boolean isOnItsWay;
    private final MemoryShortage shortage = new MemoryShortage((memoryNodeId) -> isOnItsWay && NODE == memoryNodeId);
    private long epoch;

    @BeforeEach
    void open()
    {
        shortage.open(rig.engine);
        epoch = rig.engine.epoch();
    }

    @AfterEach
    void close()
    {
        rig.close();
    }

    /** Everybody has passed what somebody could still return memory of, less some epochs. */
    private void pass(final int missing)
    {
        final long last = epoch + EpochTracker.REPEAT_EPOCHS + EpochTracker.REUSE_DISTANCE;
        rig.engine.onEpoch(last + 1, last - missing);
    }

    @Test
    void shouldKnowOfNoShortageAtFirst()
    {
        assertThat(shortage.isDenied(NODE, NOW_NS)).isFalse();
        assertThat(shortage.isDue(NODE, NOW_NS)).isTrue();
        assertThat(shortage.wantsEpochs()).isFalse();
    }

    @Test
    void shouldTryAgainAfterAPauseAndDenyNothingWhileOthersMayReturnMemory()
    {
        pass(1);
        shortage.onRefused(NODE, NOW_NS);
        assertThat(shortage.isDenied(NODE, NOW_NS)).isFalse();
        assertThat(shortage.isDenied(NODE, NOW_NS + RETRY_NS)).isFalse();
        assertThat(shortage.wantsEpochs()).isTrue();
        assertThat(shortage.isDue(NODE, NOW_NS + RETRY_NS - 1)).isFalse();
        assertThat(shortage.isDue(NODE, NOW_NS + RETRY_NS)).isTrue();
        assertThat(shortage.isDue(NODE + 1, NOW_NS)).as("another memory node").isTrue();
    }

    @Test
    void shouldDenyForAWhileWhatIsRefusedWhenAllHaveReturnedWhatTheyHad()
    {
        shortage.onRefused(NODE, NOW_NS);
        pass(1);
        shortage.onRefused(NODE, NOW_NS + RETRY_NS);
        assertThat(shortage.isDenied(NODE, NOW_NS + RETRY_NS)).as("somebody is left").isFalse();
        pass(0);
        final long deniedNs = NOW_NS + 2 * RETRY_NS;
        shortage.onRefused(NODE, deniedNs);
        assertThat(shortage.isDenied(NODE, deniedNs)).isTrue();
        assertThat(shortage.wantsEpochs()).isFalse();
        assertThat(shortage.isDenied(NODE, deniedNs + MemoryShortage.DENIAL_NS - 1)).isTrue();
        assertThat(shortage.isDenied(NODE, deniedNs + MemoryShortage.DENIAL_NS)).isFalse();
        assertThat(shortage.isDenied(NODE + 1, deniedNs)).isFalse();
    }

    /** Who goes on asking does not lengthen the denial: it has begun with the first that was denied. */
    @Test
    void shouldEndTheDenialThoughOthersAreRefusedMeanwhile()
    {
        shortage.onRefused(NODE, NOW_NS);
        pass(0);
        shortage.onRefused(NODE, NOW_NS);
        shortage.onRefused(NODE, NOW_NS + MemoryShortage.DENIAL_NS - 1);
        assertThat(shortage.isDenied(NODE, NOW_NS + MemoryShortage.DENIAL_NS)).isFalse();
    }

    @Test
    void shouldBeginAnewWithWhatIsRefusedAfterTheDenial()
    {
        shortage.onRefused(NODE, NOW_NS);
        pass(0);
        shortage.onRefused(NODE, NOW_NS);
        shortage.onRefused(NODE, NOW_NS + MemoryShortage.DENIAL_NS);
        assertThat(shortage.isDenied(NODE, NOW_NS + MemoryShortage.DENIAL_NS)).isFalse();
        assertThat(shortage.wantsEpochs()).as("those of the new shortage").isTrue();
    }

    @Test
    void shouldDenyNothingWhileMemoryIsOnItsWay()
    {
        shortage.onRefused(NODE, NOW_NS);
        pass(0);
        isOnItsWay = true;
        shortage.onRefused(NODE, NOW_NS);
        isOnItsWay = false;
        assertThat(shortage.isDenied(NODE, NOW_NS)).as("some came when it was refused").isFalse();
        shortage.onRefused(NODE, NOW_NS);
        assertThat(shortage.isDenied(NODE, NOW_NS)).isTrue();
        isOnItsWay = true;
        assertThat(shortage.isDenied(NODE, NOW_NS)).as("some comes now").isFalse();
    }

    @Test
    void shouldForgetTheShortageWhenThereAreChunks()
    {
        shortage.onRefused(NODE, NOW_NS);
        pass(0);
        shortage.onRefused(NODE, NOW_NS);
        shortage.onLeased(NODE);
        assertThat(shortage.isDenied(NODE, NOW_NS)).isFalse();
        assertThat(shortage.isDue(NODE, NOW_NS)).isTrue();
    }
}
