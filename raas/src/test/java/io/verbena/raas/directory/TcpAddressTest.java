package io.verbena.raas.directory;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.net.InetAddress;
import java.net.UnknownHostException;

import static org.assertj.core.api.Assertions.assertThat;

class TcpAddressTest
{
    @ParameterizedTest
    @CsvSource({
        "127.0.0.1, 0, ffff7f000001, 127.0.0.1",
        "255.254.253.252, 0, fffffffefdfc, 255.254.253.252",
        "::ffff:10.0.0.7, 0, ffff0a000007, 10.0.0.7",
        "fd00:1::9, fd00000100000000, 9, fd00:1:0:0:0:0:0:9",
        "::1, 0, 1, 0:0:0:0:0:0:0:1"})
    void shouldHoldAddressesOfBothKinds(final String text, final String high, final String low, final String host)
        throws UnknownHostException
    {
        final TcpAddress address = TcpAddress.of(InetAddress.getByName(text), 65_535);
        assertThat(address).isEqualTo(
            new TcpAddress(Long.parseUnsignedLong(high, 16), Long.parseUnsignedLong(low, 16), 65_535));
        assertThat(address.host()).isEqualTo(host);
        assertThat(address.isPresent()).isTrue();
        assertThat(address).hasToString(host + ":65535");
    }

    @Test
    void shouldBeAbsentWithoutAPort()
    {
        assertThat(TcpAddress.NONE.isPresent()).isFalse();
        assertThat(TcpAddress.NONE).hasToString("none");
    }
}
