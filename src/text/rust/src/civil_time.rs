//! strftime for a given second, in UTC and English: what chat templates print of the date.

const MONTHS: [&str; 12] = [
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
];
const DAYS: [&str; 7] = ["Thursday", "Friday", "Saturday", "Sunday", "Monday", "Tuesday", "Wednesday"];

/// Seconds outside the years 0 to 9999 and directives not listed here give None.
pub fn format(unix_seconds: i64, pattern: &str) -> Option<String> {
    if !(-62_167_219_200..253_402_300_800).contains(&unix_seconds) {
        return None;
    }
    let days = unix_seconds.div_euclid(86_400);
    let second_of_day = unix_seconds.rem_euclid(86_400);
    let (year, month, day) = civil_date(days);
    let (hour, minute, second) = (second_of_day / 3600, second_of_day / 60 % 60, second_of_day % 60);
    let hour_of_twelve = if hour % 12 == 0 { 12 } else { hour % 12 };
    let month_name = MONTHS[month as usize - 1];
    let day_name = DAYS[days.rem_euclid(7) as usize];
    let mut out = String::new();
    let mut characters = pattern.chars();
    while let Some(character) = characters.next() {
        if character != '%' {
            out.push(character);
            continue;
        }
        let directive = characters.next()?;
        if directive == '-' {
            let number = match characters.next()? {
                'd' => day,
                'm' => month,
                'H' => hour,
                'I' => hour_of_twelve,
                'M' => minute,
                'S' => second,
                _ => return None,
            };
            out.push_str(&number.to_string());
            continue;
        }
        out.push_str(&match directive {
            'Y' => format!("{year:04}"),
            'y' => format!("{:02}", year % 100),
            'm' => format!("{month:02}"),
            'd' => format!("{day:02}"),
            'e' => format!("{day:2}"),
            'H' => format!("{hour:02}"),
            'I' => format!("{hour_of_twelve:02}"),
            'M' => format!("{minute:02}"),
            'S' => format!("{second:02}"),
            'p' => (if hour < 12 { "AM" } else { "PM" }).to_string(),
            'B' => month_name.to_string(),
            'b' => month_name[..3].to_string(),
            'A' => day_name.to_string(),
            'a' => day_name[..3].to_string(),
            'F' => format!("{year:04}-{month:02}-{day:02}"),
            'T' => format!("{hour:02}:{minute:02}:{second:02}"),
            'Z' => "UTC".to_string(),
            'z' => "+0000".to_string(),
            '%' => "%".to_string(),
            _ => return None,
        });
    }
    Some(out)
}

/// Year, month and day of a day number since 1970-01-01, in the Gregorian calendar. Years are counted from March, so
/// that the leap day is the last of its year; 146,097 days are 400 years.
fn civil_date(days: i64) -> (i64, i64, i64) {
    let since_march_0 = days + 719_468;
    let era = since_march_0.div_euclid(146_097);
    let day_of_era = since_march_0.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day)
}
