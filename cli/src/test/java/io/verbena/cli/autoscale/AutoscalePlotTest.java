package io.verbena.cli.autoscale;

import org.junit.jupiter.api.Test;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;

import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;

import javax.xml.parsers.DocumentBuilderFactory;

import static org.assertj.core.api.Assertions.assertThat;

class AutoscalePlotTest
{
    private static double[][] points(final Element line)
    {
        return Arrays.stream(line.getAttribute("points").split(" "))
            .map((point) -> Arrays.stream(point.split(",")).mapToDouble(Double::parseDouble).toArray())
            .toArray(double[][]::new);
    }

    @Test
    void shouldDrawEachValueWithinItsPanel() throws Exception
    {
        final String svg = AutoscalePlot.of("a & b", 0.25, List.of(100.0, 400.0, 400.0), List.of(1.0, 1.0, 3.0),
            List.of(2.0, 9_000.0, 4.0), 4);
        final Element root = DocumentBuilderFactory.newInstance().newDocumentBuilder()
            .parse(new ByteArrayInputStream(svg.getBytes(StandardCharsets.UTF_8))).getDocumentElement();
        assertThat(root.getAttribute("viewBox")).isEqualTo("0 0 860 560");
        final NodeList lines = root.getElementsByTagName("polyline");
        assertThat(lines.getLength()).isEqualTo(3);
        final double[][] load = points((Element)lines.item(0));
        assertThat(load).hasDimensions(3, 2);
        assertThat(load[0]).containsExactly(90, 140); // a quarter of the panel, from 50 to 170
        assertThat(load[1][1]).isEqualTo(50);
        final double[][] nodes = points((Element)lines.item(1));
        assertThat(nodes).as("a step for each value but the first").hasDimensions(5, 2);
        assertThat(nodes[3][0]).isEqualTo(nodes[4][0]);
        for (int i = 0; i < 3; i++)
        {
            final double top = 50 + i * 170;
            assertThat(List.of(points((Element)lines.item(i)))).allSatisfy((point) ->
            {
                assertThat(point[0]).isBetween(90.0, 830.0);
                assertThat(point[1]).isBetween(top, top + 120);
            });
        }
        assertThat(svg).contains("a &amp; b", "stroke-dasharray");
    }
}
