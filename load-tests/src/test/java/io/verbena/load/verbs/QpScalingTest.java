package io.verbena.load.verbs;

import io.verbena.load.verbs.QpScaling.Series;
import io.verbena.rdma.sim.schedule.RnicModel;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

/** The shape of figure 5 of the RDMAdvisor paper; virtual time, so the figures are the same on every machine. */
class QpScalingTest
{
    private static final int PAPER_READ_BYTES = 64 * 1024;
    private static final RnicModel MODEL = RnicModel.load(RnicModel.CONNECTX3_ROCE);

    @Test
    void shouldFallBeyondCachedContextsOnlyWithQueuePairPerConnection()
    {
        final QpScaling scaling = new QpScaling(MODEL, PAPER_READ_BYTES, 1);
        final double peak = scaling.measure(100, Series.QP_PER_CONNECTION).gigabitsPerSecond();
        // 1,024 of 1,118 bytes on a link of 40 Gb/s are payload.
        assertThat(peak).isCloseTo(36.7, within(0.2));
        assertThat(scaling.measure(400, Series.QP_PER_CONNECTION).gigabitsPerSecond())
            .isCloseTo(peak, within(0.02 * peak));
        final QpScaling.Point more = scaling.measure(600, Series.QP_PER_CONNECTION);
        final QpScaling.Point most = scaling.measure(1_000, Series.QP_PER_CONNECTION);
        assertThat(more.gigabitsPerSecond()).isLessThan(0.75 * peak);
        assertThat(most.gigabitsPerSecond()).isLessThan(0.75 * more.gigabitsPerSecond());
        assertThat(most.missRatio()).isBetween(0.8, 0.95);
        for (final int connections : new int[]{100, 1_000})
        {
            final QpScaling.Point shared = scaling.measure(connections, Series.SHARED);
            assertThat(shared.gigabitsPerSecond()).isCloseTo(peak, within(0.02 * peak));
            assertThat(shared.missRatio()).isZero();
            assertThat(shared.queuePairs()).isEqualTo(3);
        }
    }

    @Test
    void shouldStayFlatWithOneInitiatorThatPaysForEachChangeOfItsTarget()
    {
        final QpScaling scaling = new QpScaling(MODEL, PAPER_READ_BYTES, 1);
        final double few = scaling.measure(100, Series.DC_INITIATOR).gigabitsPerSecond();
        final QpScaling.Point most = scaling.measure(1_000, Series.DC_INITIATOR);
        assertThat(most.gigabitsPerSecond()).isCloseTo(few, within(0.05 * few));
        assertThat(most.missRatio()).isZero();
        assertThat(most.queuePairs()).isEqualTo(1);
        // Two of three READs wait for a round trip and a connection, which the link spends idle.
        assertThat(few).isBetween(20.0, 35.0);
    }

    @Test
    void shouldNotFallWhenContextsAreFetchedInNoTimeWorthMentioning() throws IOException
    {
        final Properties properties = new Properties();
        try (InputStream file = RnicModel.class.getResourceAsStream(RnicModel.CONNECTX3_ROCE + ".properties"))
        {
            properties.load(file);
        }
        properties.setProperty("qp_context_miss_ns", "1");
        final QpScaling scaling = new QpScaling(RnicModel.of(properties), 4_096, 1);
        final double few = scaling.measure(200, Series.QP_PER_CONNECTION).gigabitsPerSecond();
        assertThat(scaling.measure(1_000, Series.QP_PER_CONNECTION).gigabitsPerSecond())
            .isCloseTo(few, within(0.05 * few));
    }

    @Test
    void shouldPredictTheSameAgain()
    {
        final QpScaling.Point point = new QpScaling(MODEL, 64, 7).measure(500, Series.QP_PER_CONNECTION);
        assertThat(new QpScaling(MODEL, 64, 7).measure(500, Series.QP_PER_CONNECTION)).isEqualTo(point);
        assertThat(point.fields()).containsEntry("series", "qp_per_connection").containsEntry("connections_count", 500L)
            .containsKeys("payload_gbit_per_second", "reads_per_second", "context_miss_ratio", "mean_latency_us");
    }

    @Test
    void shouldDrawEachSeriesInsideTheFrame()
    {
        final List<QpScaling.Point> points = new ArrayList<>();
        for (final int connections : new int[]{1, 500, 1_000})
        {
            points.add(new QpScaling.Point(
                connections, Series.QP_PER_CONNECTION, connections, 30.0 / connections, 1, 0, 1));
            points.add(new QpScaling.Point(connections, Series.SHARED, 3, 30, 1, 0, 1));
            points.add(new QpScaling.Point(connections, Series.DC_INITIATOR, 1, 20, 1, 0, 1));
        }
        final String svg = QpScalingPlot.of(points, 64, 400);
        assertThat(svg).startsWith("<svg ").endsWith("</svg>\n").contains("contexts that the NIC holds: 400", "1,000")
            .doesNotContain("NaN", "Infinity");
        assertThat(svg.split("<polyline ")).hasSize(4);
        assertThat(svg.split("<circle ")).hasSize(10);
    }
}
