package io.verbena.cli.admin;

import io.verbena.cli.console.CommandFailedException;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** What the names of fabrics mean to {@code up}. */
class UpCommandTest
{
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        roce:fd00::1                                  | verbena://[fd00::1]:7373
        roce:[fd00::1]:4791,mtu=512                   | verbena://[fd00::1]:7373
        roce:10.0.0.7                                 | verbena://10.0.0.7:7373
        soft:network=fd00::1                          | verbena://[fd00::1]:7373
        soft:/dev/shm/mine,network=[fd00::1]:4791     | verbena://[fd00::1]:7373
        soft:network=lo                               | verbena://[::1]:7373
        soft:/dev/shm/mine                            | verbena://127.0.0.1:0
        """)
    void shouldListenAtTheAddressOfTheFabric(final String fabric, final String expected)
    {
        assertThat(UpCommand.listenOf(fabric)).isEqualTo(expected);
    }

    @Test
    void shouldAskForAnAddressWhereTheFabricHasNone()
    {
        assertThatThrownBy(() -> UpCommand.listenOf("roce")).isInstanceOf(CommandFailedException.class)
            .hasMessageContaining("--fabric roce: give --listen ADDRESS");
    }

    /** Processes of one host share memory, unless the name says more than an address, or another one is advertised. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        roce:fd00::1                      | false | soft:network=fd00::1
        roce:[fd00::1]:4791,mtu=512       | false | soft:network=[fd00::1]:4791,mtu=512
        roce:fd00::1,memory=/x            | false | roce:fd00::1,memory=/x
        roce                              | false | roce
        roce:fd00::1                      | true  | roce
        soft:/x,network=fd00::1           | false | soft:/x,network=fd00::1
        """)
    void shouldNameTheFabricOfTheMetaServer(final String fabric, final boolean isAdvertised, final String expected)
    {
        assertThat(UpCommand.fabricOf(fabric, isAdvertised)).isEqualTo(expected);
    }
}
