package io.verbena.cli.hosts;

import io.verbena.cli.CommandLines;
import io.verbena.cli.console.ExitStatus;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

class HostsCommandTest
{
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        dev hosts                          | N
        dev hosts 0                        | number of hosts 0: must be 1 to 64
        dev hosts 65                       | number of hosts 65: must be 1 to 64
        dev hosts many                     | many
        dev hosts 2 --loss 1.01            | --loss 1.01: must be 0 to 1
        dev hosts 2 --loss -0.1            | --loss -0.1: must be 0 to 1
        dev hosts 2 --reorder NaN          | --reorder NaN: must be 0 to 1
        dev hosts 2 --duplicate 2          | --duplicate 2.0: must be 0 to 1
        dev hosts 2 --corrupt 1e9          | --corrupt 1.0E9: must be 0 to 1
        dev hosts 2 --delay 5              | --delay 5: must be a time such as 500us, 2ms or 1s, at most 10s
        dev hosts 2 --delay 11s            | --delay 11s: must be a time
        dev hosts 2 --delay -1ms           | --delay -1ms: must be a time
        dev hosts 2 --rate 0mbit           | --rate 0mbit: must be a rate such as 200mbit, from 100kbit to 100gbit
        dev hosts 2 --rate 1000gbit        | --rate 1000gbit: must be a rate
        dev hosts 2 --rate fast            | --rate fast: must be a rate
        dev hosts 2 --mtu 1279             | --mtu 1279: must be 1280 to 9000
        dev hosts 2 --mtu 9001             | --mtu 9001: must be 1280 to 9000
        dev hosts 2 --name ../../etc       | --name ../../etc: must be 1 to 40 letters
        dev hosts 2 --seed x               | --seed
        dev exec                           | HOST
        dev exec h1                        | COMMAND
        dev cut                            | HOST
        """)
    void shouldRefuseInOneLine(final String arguments, final String expected)
    {
        final CommandLines.Result result = CommandLines.run(List.of(arguments.strip().split(" +")));

        assertThat(result.status()).isEqualTo(ExitStatus.USAGE);
        assertThat(result.err().strip().lines()).singleElement().asString().startsWith("verbena: ").contains(expected);
    }

    @Test
    void shouldHaveAnAddressOfEachFamily()
    {
        assertThat(new Host(1).ipv6()).isEqualTo("fd00:77::1");
        assertThat(new Host(64).ipv6()).isEqualTo("fd00:77::40");
        assertThat(new Host(64).ipv4()).isEqualTo("10.77.0.64");
    }
}
