package io.verbena.rdma.roce.device;

import io.verbena.rdma.verbs.RdmaException;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.net.InetAddress;
import java.nio.file.Path;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class RoceFabricOptionsTest
{
    @ParameterizedTest
    @CsvSource({
        "'', ::1, 0",
        "::1, ::1, 0",
        "[::1]:4791, ::1, 4791",
        "[fd00::7], fd00::7, 0",
        "10.0.0.7, 10.0.0.7, 0",
        "10.0.0.7:65535, 10.0.0.7, 65535",
        "eth0, eth0, 0"})
    void shouldTakeAddressPortOrInterface(final String argument, final String host, final int port)
    {
        assertThat(RoceFabricOptions.parse(argument)).isEqualTo(new RoceFabricOptions(host, port, 0, 50, 1, null));
    }

    @Test
    void shouldTakeMtuAndDirectory()
    {
        assertThat(RoceFabricOptions.parse("::1,mtu=1024,spin_us=70,threads=3,memory=/dev/shm/x")).isEqualTo(
            new RoceFabricOptions("::1", 0, 1024, 70, 3, Path.of("/dev/shm/x")));
    }

    @ParameterizedTest
    @ValueSource(strings = {
        "[::1", "[::1]4791", "[::1]:0", "[::1]:65536", "[::1]:x", "10.0.0.7:", ":4791", "::1,mtu",
        "::1,memory=", "::1,port=3", "host=::1"})
    void shouldRefuseInOneLineWhatIsNoArgument(final String argument)
    {
        assertThatThrownBy(() -> RoceFabricOptions.parse(argument)).isInstanceOf(RdmaException.class)
            .hasMessageContaining("roce takes ").hasMessageNotContaining("\n");
    }

    @ParameterizedTest
    @ValueSource(strings = {"500", "1000", "0", "8192", "x", "1024 "})
    void shouldSayHowLongPacketsMayBe(final String mtu)
    {
        for (final int each : new int[]{256, 512, 1024, 2048, 4096})
        {
            assertThat(RoceFabricOptions.parse("::1,mtu=" + each).mtu()).isEqualTo(each);
        }
        assertThatThrownBy(() -> RoceFabricOptions.parse("::1,mtu=" + mtu)).isInstanceOf(RdmaException.class)
            .hasMessage("bad fabric argument 'mtu=" + mtu +
                "': mtu is 256, 512, 1024, 2048 or 4096, the most bytes of data in a packet");
    }

    @ParameterizedTest
    @ValueSource(strings = {"1001", "-1", "x", "1.5", "10000000000"})
    void shouldSayHowLongAThreadMayPoll(final String spinUs)
    {
        assertThat(RoceFabricOptions.parse("::1,spin_us=1000").spinUs()).isEqualTo(1000);
        assertThat(RoceFabricOptions.parse("::1,spin_us=0").spinUs()).as("never").isZero();
        assertThatThrownBy(() -> RoceFabricOptions.parse("::1,spin_us=" + spinUs)).isInstanceOf(RdmaException.class)
            .hasMessage("bad fabric argument 'spin_us=" + spinUs +
                "': spin_us is 0 to 1000 microseconds, which a thread polls before it sleeps");
    }

    @ParameterizedTest
    @ValueSource(strings = {"0", "33", "-1", "x", "1.5", "100"})
    void shouldSayHowManyThreadsMayAnswer(final String threads)
    {
        assertThat(RoceFabricOptions.parse("::1,threads=32").threads()).isEqualTo(32);
        assertThatThrownBy(() -> RoceFabricOptions.parse("::1,threads=" + threads)).isInstanceOf(RdmaException.class)
            .hasMessage("bad fabric argument 'threads=" + threads + "': threads is 1 to 32, which answer peers");
    }

    @Test
    void shouldRefuseMoreThreadsThanThereArePortsFromTheGivenOneOn()
    {
        assertThat(RoceFabricOptions.parse("[::1]:65534,threads=2").port()).isEqualTo(65_534);
        assertThatThrownBy(() -> RoceFabricOptions.parse("[::1]:65534,threads=3")).isInstanceOf(RdmaException.class)
            .hasMessageContaining("3 threads have UDP ports from 65534 on");
    }

    @Test
    void shouldListAddressesWhenThereIsNoSuch()
    {
        assertThatThrownBy(() -> LocalAddress.of("2001:db8::77")).isInstanceOf(RdmaException.class)
            .hasMessageContaining("'2001:db8::77'").hasMessageContaining("127.0.0.1 (lo)");
    }

    @ParameterizedTest
    @CsvSource({
        "::1, 65536, 4096", "::1, 4196, 4096", "::1, 4195, 2048", "::1, 1500, 1024", "127.0.0.1, 1500, 1024",
        "127.0.0.1, 4176, 4096", "127.0.0.1, 4175, 2048", "::1, 576, 256", "::1, 356, 256", "::1, 355, 0"})
    void shouldLeaveRoomForAllHeaders(final String address, final int mtuBytes, final int payloadBytes)
    {
        assertThat(LocalAddress.payloadBytes(InetAddress.ofLiteral(address), mtuBytes)).isEqualTo(payloadBytes);
    }
}
