package io.verbena.cli.hosts.wire;

import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

class FrameFatesTest
{
    private static final int FRAMES = 100_000;
    private static final double SHARE = 0.01;
    /** Five standard deviations of the number of faults among the frames. */
    private static final double TOLERANCE = 5 * Math.sqrt(FRAMES * SHARE * (1 - SHARE));
    private static final LinkFaults ALL = new LinkFaults(SHARE, SHARE, SHARE, SHARE, 0, 0, 7);

    private record Fate(boolean isLost, boolean isDuplicate, boolean isCorrupt, long bit, long heldNs)
    {
    }

    @Test
    void shouldHaveEachFaultAsOftenAsAskedFor()
    {
        final List<Fate> fates = fates(ALL, 0, 1);

        assertThat((double)fates.stream().filter(Fate::isLost).count()).isBetween(least(), most());
        assertThat((double)fates.stream().filter(Fate::isDuplicate).count()).isBetween(least(), most());
        assertThat((double)fates.stream().filter(Fate::isCorrupt).count()).isBetween(least(), most());
        assertThat((double)fates.stream().filter((fate) -> fate.heldNs > 0).count()).isBetween(least(), most());
        assertThat(fates).allSatisfy((fate) -> assertThat(fate.heldNs).isBetween(0L, LinkFaults.HELD_NS));
        // Faults come together as often as chance has it: about 10 of 100,000.
        assertThat(fates.stream().filter((fate) -> fate.isLost && fate.isDuplicate).count()).isLessThan(40);
    }

    @Test
    void shouldRepeatItselfByItsSeedAndBeAnotherForEachLinkAndSeed()
    {
        final List<Fate> fates = fates(ALL, 0, 1);

        assertThat(fates(ALL, 0, 1)).isEqualTo(fates);
        assertThat(losses(fates(ALL, 1, 0))).isNotEqualTo(losses(fates));
        assertThat(losses(fates(ALL, 0, 2))).isNotEqualTo(losses(fates));
        assertThat(losses(fates(new LinkFaults(SHARE, SHARE, SHARE, SHARE, 0, 0, 8), 0, 1)))
            .isNotEqualTo(losses(fates));
    }

    @Test
    void shouldLoseTheSameFramesWhateverElseIsAskedFor()
    {
        assertThat(losses(fates(new LinkFaults(SHARE, 0, 0.5, 0, 9, 9, 7), 0, 1))).isEqualTo(losses(fates(ALL, 0, 1)));
    }

    @Test
    void shouldReachItsLimits()
    {
        assertThat(fates(new LinkFaults(1, 1, 1, 1, 0, 0, 1), 0, 1)).allSatisfy((fate) ->
            assertThat(fate.isLost && fate.isDuplicate && fate.isCorrupt && fate.heldNs > 0).isTrue());
        assertThat(fates(new LinkFaults(0, 0, 0, 0, 0, 0, 1), 0, 1)).allSatisfy((fate) ->
            assertThat(fate.isLost || fate.isDuplicate || fate.isCorrupt || fate.heldNs > 0).isFalse());
        assertThat(fates(ALL, 0, 1).stream().mapToLong(Fate::bit).distinct().sorted()).containsExactly(0L, 1L, 2L);
    }

    private static double least()
    {
        return FRAMES * SHARE - TOLERANCE;
    }

    private static double most()
    {
        return FRAMES * SHARE + TOLERANCE;
    }

    private static List<Boolean> losses(final List<Fate> fates)
    {
        return fates.stream().map(Fate::isLost).toList();
    }

    private static List<Fate> fates(final LinkFaults faults, final int from, final int to)
    {
        final FrameFates frames = new FrameFates(faults, from, to);
        final List<Fate> fates = new ArrayList<>();
        for (int i = 0; i < FRAMES; i++)
        {
            frames.next();
            fates.add(new Fate(
                frames.isLost(), frames.isDuplicate(), frames.isCorrupt(), frames.corruptBit(3), frames.heldNs()));
        }
        return fates;
    }
}
