//! The card as its reader sees it: chained commands put together, long answers taken apart (ISO 7816-4, 5.1.1 and 5.3.4).

use iso7816::{Command, Instruction, Status, command::FromSliceError};
use opcard::{Card, Client, Options};

/// The longest command and the longest answer.
const LENGTH: usize = 7609;

/// A card in a reader.
pub struct InReader<C: Client> {
    card: Card<C>,
    /// The beginning of a command of several parts.
    begun: Option<Command<LENGTH>>,
    /// What is left of an answer.
    rest: Vec<u8>,
}

impl<C: Client> InReader<C> {
    pub fn new(client: C, options: Options) -> Self {
        Self { card: Card::new(client, options), begun: None, rest: Vec::new() }
    }

    fn answer(&mut self, bytes: &[u8]) -> (Vec<u8>, Status) {
        match Command::<LENGTH>::try_from(bytes) {
            Ok(part) => self.execute(part).unwrap_or_else(|status| (Vec::new(), status)),
            Err(FromSliceError::InvalidClass) => (Vec::new(), Status::ClassNotSupported),
            Err(_) => (Vec::new(), Status::WrongLength),
        }
    }

    fn execute(&mut self, part: Command<LENGTH>) -> Result<(Vec<u8>, Status), Status> {
        let is_last = part.class().chain().last_or_only();
        let command = match self.begun.take() {
            Some(mut begun) => begun.extend_from_command(&part).map_err(|_| Status::WrongLength).map(|()| begun)?,
            None => part,
        };
        if !is_last {
            self.begun = Some(command);
            return Ok((Vec::new(), Status::Success));
        }
        if command.instruction() != Instruction::GetResponse {
            let mut reply = heapless::Vec::<u8, LENGTH>::new();
            self.rest.clear();
            self.card.handle(command.as_view(), &mut reply)?;
            self.rest.extend_from_slice(&reply);
        }
        let rest = self.rest.split_off(command.expected().min(self.rest.len()));
        let sent = std::mem::replace(&mut self.rest, rest);
        let left = u8::try_from(self.rest.len()).unwrap_or(u8::MAX);
        Ok((sent, if left == 0 { Status::Success } else { Status::MoreAvailable(left) }))
    }
}

impl<C: Client> vpicc::VSmartCard for InReader<C> {
    fn power_off(&mut self) {
        self.card.reset();
    }

    fn reset(&mut self) {
        self.card.reset();
    }

    fn execute(&mut self, command: &[u8]) -> Vec<u8> {
        let (mut answer, status) = self.answer(command);
        answer.extend_from_slice(&<[u8; 2]>::from(status));
        answer
    }
}
