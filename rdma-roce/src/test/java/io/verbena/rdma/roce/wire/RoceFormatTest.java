package io.verbena.rdma.roce.wire;

import io.verbena.test.FormatPage;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;

import static org.assertj.core.api.Assertions.assertThat;

class RoceFormatTest
{
    @ParameterizedTest
    @ValueSource(classes = {BthDescriptor.class, RethDescriptor.class, AtomicEthDescriptor.class, AethDescriptor.class,
        AtomicAckEthDescriptor.class, ImmDtDescriptor.class, IethDescriptor.class, DethDescriptor.class,
        DcEthDescriptor.class, DcAckEthDescriptor.class, DcAcceptEthDescriptor.class, RoceOpcode.class})
    void shouldAgreeWithThePage(final Class<?> descriptor) throws IOException
    {
        FormatPage.of("roce-packet.md").shouldAgreeWith(descriptor);
    }

    @Test
    void shouldNameThePort() throws IOException
    {
        assertThat(FormatPage.of("roce-packet.md").text()).contains("port " + RocePath.ROCE_PORT);
    }

    /** Lengths as the specification has them, written down once more. */
    @Test
    void shouldKnowWhereThePayloadOfEachOpcodeBegins()
    {
        final int[][] expected = {
            {0x00, 12}, {0x01, 12}, {0x02, 12}, {0x03, 16}, {0x04, 12}, {0x05, 16}, {0x06, 28}, {0x07, 12}, {0x08, 12},
            {0x09, 16}, {0x0A, 28}, {0x0B, 32}, {0x0C, 28}, {0x0D, 16}, {0x0E, 12}, {0x0F, 16}, {0x10, 16}, {0x11, 16},
            {0x12, 24}, {0x13, 40}, {0x14, 40}, {0x16, 16}, {0x17, 16},
            {0x20, 12}, {0x21, 12}, {0x22, 12}, {0x23, 16}, {0x24, 12}, {0x25, 16}, {0x26, 28}, {0x27, 12}, {0x28, 12},
            {0x29, 16}, {0x2A, 28}, {0x2B, 32}, {0x36, 16}, {0x37, 16}, {0x64, 20}, {0x65, 24},
            {0x81, 28},
            {0xE0, 28}, {0xE1, 28}, {0xE2, 28}, {0xE3, 32}, {0xE4, 28}, {0xE5, 32}, {0xE6, 44}, {0xE7, 28}, {0xE8, 28},
            {0xE9, 32}, {0xEA, 44}, {0xEB, 48}, {0xEC, 44}, {0xED, 20}, {0xEE, 16}, {0xEF, 20}, {0xF0, 20}, {0xF1, 20},
            {0xF2, 28}, {0xF3, 56}, {0xF4, 56}, {0xFC, 28}, {0xFD, 28}, {0xFE, 28}};
        int known = 0;
        for (final int[] pair : expected)
        {
            assertThat(RoceOpcode.headerBytes(pair[0])).as("opcode 0x%02x", pair[0]).isEqualTo(pair[1]);
            assertThat(RoceOpcode.traits(pair[0])).isNotEqualTo(RoceOpcode.UNKNOWN);
        }
        for (int opcode = 0; opcode < 256; opcode++)
        {
            known += RoceOpcode.traits(opcode) == RoceOpcode.UNKNOWN ? 0 : 1;
        }
        assertThat(known).isEqualTo(expected.length);
    }
}
