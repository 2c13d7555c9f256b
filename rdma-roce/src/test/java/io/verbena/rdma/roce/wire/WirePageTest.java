package io.verbena.rdma.roce.wire;

import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import static org.assertj.core.api.Assertions.assertThat;

/** The captured packets of docs/wire.md are what the tables beside them say, as the provider reads packets. */
class WirePageTest
{
    private static final Pattern ROW = Pattern.compile(
        "^\\| (\\d+) \\| (h\\d) to (h\\d) \\| `(\\w+)` \\| (\\d+) \\| ([0-9a-f]{6}) \\|", Pattern.MULTILINE);
    private static final Pattern PACKET = Pattern.compile(
        "^(\\d+) h(\\d):(\\d+) > h(\\d):(\\d+)\n((?: {2}[0-9a-f]+\n)+)", Pattern.MULTILINE);
    private static final long NETWORK = 0xFD00_0077_0000_0000L;
    private static final int MAX_PORT = 0xFFFF;

    private final InvariantCrc crc = new InvariantCrc();

    private static RocePacket packet(final Matcher captured)
    {
        final byte[] bytes = HexFormat.of().parseHex(captured.group(6).replaceAll("\\s", ""));
        final RocePacket packet = new RocePacket();
        packet.buffer().putBytes(0, bytes);
        packet.lengthBytes(bytes.length);
        packet.path(NETWORK, Long.parseLong(captured.group(2)), Integer.parseInt(captured.group(3)) & MAX_PORT,
            NETWORK, Long.parseLong(captured.group(4)), Integer.parseInt(captured.group(5)) & MAX_PORT);
        return packet;
    }

    @Test
    void shouldShowPacketsAsTheyWereOnTheWire() throws IOException, ReflectiveOperationException
    {
        final String page = Files.readString(Path.of("..", "docs", "wire.md"));
        final List<RocePacket> packets = new ArrayList<>();
        final Matcher captured = PACKET.matcher(page);
        while (captured.find())
        {
            packets.add(packet(captured));
            assertThat(captured.group(1)).isEqualTo(Integer.toString(packets.size()));
            assertThat(crc.isIntact(packets.getLast())).as("CRC of packet %d", packets.size()).isTrue();
        }
        assertThat(packets).hasSize(15);
        int rows = 0;
        for (final Matcher row = ROW.matcher(page); row.find(); rows++)
        {
            final RocePacket packet = packets.get(rows);
            assertThat(row.group(1)).isEqualTo(Integer.toString(rows + 1));
            assertThat("h" + packet.sourceLow() + " h" + packet.destinationLow())
                .isEqualTo(row.group(2) + " " + row.group(3));
            assertThat(BthDescriptor.opcode(packet.buffer(), 0)).as("opcode of packet %d", rows + 1)
                .isEqualTo(RoceOpcode.class.getField(row.group(4)).getInt(null));
            assertThat(packet.lengthBytes()).isEqualTo(Integer.parseInt(row.group(5)));
            assertThat(BthDescriptor.sequence(packet.buffer(), 0)).isEqualTo(Integer.parseInt(row.group(6), 16));
        }
        assertThat(rows).isEqualTo(packets.size());
        shouldReadTheSlotThatTheUpdateSwaps(packets);
    }

    private static void shouldReadTheSlotThatTheUpdateSwaps(final List<RocePacket> packets)
    {
        final RocePacket read = packets.get(2);
        assertThat(RethDescriptor.address(read.buffer(), BthDescriptor.LENGTH_BYTES)).isEqualTo(0x7FA7C4041180L);
        assertThat(RethDescriptor.dmaLength(read.buffer(), BthDescriptor.LENGTH_BYTES)).isEqualTo(128);
        final RocePacket slot = packets.get(5);
        final long word = slot.buffer().getLong(RoceOpcode.headerBytes(RoceOpcode.READ_RESPONSE_ONLY));
        final RocePacket swap = packets.get(11);
        assertThat(AtomicEthDescriptor.compare(swap.buffer(), BthDescriptor.LENGTH_BYTES)).isEqualTo(word);
    }
}
